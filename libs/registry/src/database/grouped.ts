/** What one statement read for many parents, given back to each. */

/** The rows of each key, in the order of `keys`, which are distinct; rows keep their order. */
export function grouped<Key, Row>(
  keys: readonly Key[],
  rows: readonly Row[],
  keyOf: (row: Row) => Key,
): readonly (readonly Row[])[] {
  const groups = new Map<Key, Row[]>(keys.map((key) => [key, []]));
  for (const row of rows) groups.get(keyOf(row))?.push(row);
  return keys.map((key) => groups.get(key) ?? []);
}
