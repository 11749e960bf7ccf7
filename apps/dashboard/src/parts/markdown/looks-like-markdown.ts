/** Whether a text has a mark that plain sentences and logs rarely have. Only its start counts. */
const lookedAtMax = 20_000;

const marks: readonly RegExp[] = [
  /^ {0,3}#{1,6} \S/m,
  /^ {0,3}(?:[-*+]|\d{1,3}[.)]) \S/m,
  /^ {0,3}```/m,
  /^ {0,3}> \S/m,
  /\*\*[^\s*][^*\n]*\*\*/,
  /`[^`\n]+`/,
  /\[[^\]\n]{1,200}\]\([^)\s]{1,500}\)/,
];

export function looksLikeMarkdown(text: string): boolean {
  const part = text.slice(0, lookedAtMax);
  return marks.some((mark) => mark.test(part));
}
