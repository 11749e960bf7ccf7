/** Texts as words of a POSIX shell, and JSON that is safe to paste into a terminal. */

/** Characters that a shell takes as they are, anywhere in a word. */
const plainWord = /^[\w%+,./:@-]+$/;
/** Control characters, and those that reorder text: a terminal may obey or hide them. */
const unsafeCharacters = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu;

/** Undefined for a text that cannot be pasted safely. */
export function shellWord(text: string): string | undefined {
  if (hasUnsafe(text)) return undefined;
  if (plainWord.test(text)) return text;
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The words of a command in one line; undefined if one of them cannot be pasted safely. */
export function commandLine(words: readonly string[]): string | undefined {
  const quoted = words.map(shellWord);
  return quoted.includes(undefined) ? undefined : quoted.join(' ');
}

/** JSON whose strings have no unsafe characters; it means the same. */
export function safeJson(value: unknown, indent?: number): string {
  // Line ends outside of strings come from the indentation.
  return JSON.stringify(value, null, indent).replaceAll(unsafeCharacters, (character) =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function hasUnsafe(text: string): boolean {
  return text.search(unsafeCharacters) >= 0;
}
