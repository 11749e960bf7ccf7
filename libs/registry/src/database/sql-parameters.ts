/** Numbers the parameters of a statement that is put together from parts. */

/** Adds a value and returns its placeholder. */
export function bind(parameters: unknown[], value: unknown): string {
  parameters.push(value);
  return `$${String(parameters.length)}`;
}

/**
 * As `bind`, for a list of a caller: each value once, because PostgreSQL compares each row with
 * each entry.
 */
export function bindDistinct(parameters: unknown[], values: readonly unknown[]): string {
  return bind(parameters, [...new Set(values)]);
}

/**
 * The pattern for LIKE that finds `text` anywhere; wildcards in it are escaped. SQL writes it in
 * lower case, as it does the texts: JavaScript has other small letters for `İ` and a last `Σ`.
 */
export function containsPattern(text: string): string {
  return `%${escapedPattern(text)}%`;
}

/** The text without wildcards of LIKE. */
export function escapedPattern(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
