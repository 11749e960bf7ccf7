/** What a message to a caller must never show of the hub's insides: SQL, a stack, a path. */

const insides: readonly RegExp[] = [
  /\bselect\b.+\bfrom\b/is,
  /\binsert into\b|\bdelete from\b|\bupdate\b.+\bset\b.+=/i,
  /\b(relation|column|constraint|operator|function) "?[\w.]+"? (does not exist|of relation)|syntax error at|violates .*constraint|invalid input syntax/i,
  /\bpg_\w+|\bprisma\b|SQLSTATE|\$\d+::/i,
  /^\s+at .+[:(]/m,
  /\b[\w-]+\.(ts|js|mjs|cjs):\d+/,
  /node_modules|node:internal|\bE(CONNREFUSED|NOENT|ACCES|PIPE)\b/,
  // Files, but not what the API is reached at.
  /(?:^|[\s"'(`=])\/(?!api\/|graphql\b|mcp\b)[\w.-]+\/[\w./-]+/,
  /\b[a-z]:\\/i,
];

/** The first internal detail in a text; undefined when it has no such detail. */
export function leakIn(text: string): string | undefined {
  for (const pattern of insides) {
    const found = pattern.exec(text);
    if (found) return found[0];
  }
  return undefined;
}
