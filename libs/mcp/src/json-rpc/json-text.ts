/**
 * The one door through which a peer's JSON text becomes values: bounded in depth, and free of the two things that storage refuses (NUL and halves of
 * surrogate pairs). It never throws.
 */

/** A JSON object, members not yet checked. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Levels of nesting. Known messages have nine; recursive code behind this door then needs no bound of its own. */
export const jsonDepthMax = 32;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value, or undefined (which is no JSON value) where the text is not JSON or nests deeper than `jsonDepthMax`. */
export function parseJsonText(text: string): unknown {
  const value = parse(text);
  // Nearly all texts have fewer brackets than levels are allowed: then none of their values is looked at.
  if (hasMoreBrackets(text, jsonDepthMax) && isDeeperThan(value, jsonDepthMax)) return undefined;
  // Only an escape can bring in what cleaning removes: raw control characters are no JSON, and UTF-8 has no half pairs.
  return text.includes('\\u') ? cleanValue(value) : value;
}

/** The text with each NUL and each half of a surrogate pair replaced by U+FFFD. */
export function cleanText(text: string): string {
  return text.replace(/\0|\p{Surrogate}/gu, '\uFFFD');
}

/** The beginning of a text, at most `max` UTF-16 code units, cleaned. */
export function quoteText(text: string, max: number): string {
  return cleanText(text.length <= max ? text : `${text.slice(0, max - 1)}…`);
}

/** Whether containers nest deeper than `levels`. Looks no deeper than that itself. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) return value.some((item) => isDeeperThan(item, levels - 1));
  for (const key in value) {
    if (isDeeperThan((value as JsonObject)[key], levels - 1)) return true;
  }
  return false;
}

/** Whether more than `max` brackets open, those in strings included. */
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
