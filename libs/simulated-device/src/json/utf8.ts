/** UTF-8 without an encoder: the compiler options of a core know no TextEncoder. */

/** Counts the bytes of a text: the firmware measures pages in bytes. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}

/** A text as its bytes on the wire. */
export function utf8Bytes(text: string): Uint8Array {
  const escaped = encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\uFFFD'));
  const bytes: number[] = [];
  for (let index = 0; index < escaped.length; index++) {
    const isEscape = escaped[index] === '%';
    bytes.push(isEscape ? Number.parseInt(escaped.slice(index + 1, index + 3), 16) : escaped.charCodeAt(index));
    if (isEscape) index += 2;
  }
  return Uint8Array.from(bytes);
}
