/**
 * Rows on their way into a set-based statement, as JSON: the cheapest way out of Node. What JSON can say and PostgreSQL cannot store (NUL, lone
 * surrogates) is replaced here, so that no device's text can spoil a batch.
 */

/** An escaped NUL or surrogate: JSON.stringify escapes only lone ones. A preceding backslash may make it a false alarm, which costs time and nothing else. */
const SUSPICIOUS = /\\u(0000|d[89a-f])/;
const UNSTORABLE = /\0|\p{Surrogate}/gu;

/** `value` as JSON that PostgreSQL takes. */
export function toJson(value: unknown): string {
  const json = JSON.stringify(value);
  return SUSPICIOUS.test(json) ? JSON.stringify(storable(value)) : json;
}

/** A text that PostgreSQL takes. */
export function storableText(text: string): string {
  return text.replace(UNSTORABLE, '\uFFFD');
}

function storable(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value);
  if (Array.isArray(value)) return value.map(storable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [storableText(key), storable(item)]));
}
