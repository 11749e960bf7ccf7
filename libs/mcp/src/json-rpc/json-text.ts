/**
 * Parses the JSON text of a peer into bounded values, without the two things that PostgreSQL
 * rejects: NUL and unpaired surrogates. It never throws.
 */

/** A JSON object whose members are not validated yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Levels of nesting. Known messages have nine. Recursive code that reads parsed values needs no
 * further limit.
 */
export const jsonDepthMax = 32;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns undefined if the text is not JSON or nests deeper than `jsonDepthMax`. */
export function parseJsonText(text: string): unknown {
  const value = parse(text);
  // Most texts have fewer brackets than the allowed depth, so their values need no inspection.
  if (hasMoreBrackets(text, jsonDepthMax) && isDeeperThan(value, jsonDepthMax)) return undefined;
  // Only a `\u` escape can produce what cleaning removes: JSON has no raw control characters, UTF-8
  // no surrogates.
  return text.includes('\\u') ? cleanValue(value) : value;
}

/** Replaces each NUL and each unpaired surrogate with U+FFFD. */
export function cleanText(text: string): string {
  return text.replace(/\0|\p{Surrogate}/gu, '\uFFFD');
}

/** Returns the beginning of a text, at most `max` UTF-16 code units, cleaned after the cut. */
export function clipText(text: string, max: number): string {
  return cleanText(text.slice(0, max));
}

/** The same, with an ellipsis as its end where the text is longer. */
export function quoteText(text: string, max: number): string {
  return cleanText(text.length <= max ? text : `${text.slice(0, max - 1)}…`);
}

/** Whether a value nests deeper than `levels`. Stops at that depth. */
function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) return value.some((item) => isDeeperThan(item, levels - 1));
  for (const key in value) {
    if (isDeeperThan((value as JsonObject)[key], levels - 1)) return true;
  }
  return false;
}

/** Whether the text contains more than `max` opening brackets, including those in strings. */
function hasMoreBrackets(text: string, max: number): boolean {
  let count = 0;
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at !== -1 && count <= max; at = text.indexOf(bracket, at + 1)) count += 1;
  }
  return count > max;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function cleanValue(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (Array.isArray(value)) return value.map(cleanValue);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [cleanText(key), cleanValue(member)]));
}
