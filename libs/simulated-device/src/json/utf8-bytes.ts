/** A text as its bytes on the wire. The compiler options of a core know no TextEncoder. */
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
