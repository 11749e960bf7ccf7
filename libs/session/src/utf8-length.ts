/** Counts UTF-8 bytes without encoding, as a core has no encoder. */

/** Whether the text has more than `bytesMax` bytes in UTF-8. Stops counting there; short texts are not counted at all. */
export function utf8BytesExceed(text: string, bytesMax: number): boolean {
  if (text.length > bytesMax) return true;
  // No UTF-16 code unit takes more than three bytes.
  if (text.length * 3 <= bytesMax) return false;
  let bytes = 0;
  for (const character of text) {
    const codePoint = character.codePointAt(0) ?? 0;
    bytes += codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
    if (bytes > bytesMax) return true;
  }
  return false;
}
