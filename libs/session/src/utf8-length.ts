/** Counts UTF-8 bytes without an encoder, which pure libraries do not have. */

/**
 * Whether the text has more than `bytesMax` bytes in UTF-8. Stops at the limit, and does not count
 * short texts.
 */
export function utf8BytesExceed(text: string, bytesMax: number): boolean {
  if (text.length > bytesMax) return true;
  // A UTF-16 code unit has at most three bytes.
  if (text.length * 3 <= bytesMax) return false;
  let bytes = 0;
  for (const character of text) {
    const codePoint = character.codePointAt(0) ?? 0;
    bytes += codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
    if (bytes > bytesMax) return true;
  }
  return false;
}
