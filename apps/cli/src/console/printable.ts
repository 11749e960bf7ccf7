/**
 * Escapes device texts for a terminal: control sequences could overwrite the screen or run
 * commands.
 */

/** C0 and C1 controls, direction marks and invisible characters. */
const unprintable = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
/** Those that JSON does not escape itself. */
const leftByJson = /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

export function printable(text: string): string {
  return text.replace(unprintable, (character) => (character === '\n' || character === '\t' ? ' ' : '\ufffd'));
}

/** One line of JSON, or several with an indent. */
export function jsonText(value: unknown, indent?: number): string {
  return (JSON.stringify(value, null, indent) ?? 'null').replace(
    leftByJson,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
