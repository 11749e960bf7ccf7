/**
 * Values on their way into PostgreSQL. What JSON can express and PostgreSQL cannot store (NUL, lone
 * surrogates) is replaced here, so that no device's text can spoil a batch.
 */
import type { Prisma } from '../generated/prisma/client.js';

/** An escaped NUL or lone surrogate. A false alarm, after a backslash, costs only time. */
const SUSPICIOUS = /\\u(0000|d[89a-f])/;
const UNSTORABLE = /\0|\p{Surrogate}/gu;

/** `value` as JSON that PostgreSQL accepts. JSON is the cheapest way out of Node for many rows. */
export function toJson(value: unknown): string {
  const json = JSON.stringify(value);
  return SUSPICIOUS.test(json) ? JSON.stringify(storable(value)) : json;
}

/** `value` as Prisma writes it into a column of type jsonb. Undefined members are left out. */
export function storableJson(value: object): Prisma.InputJsonValue {
  return JSON.parse(toJson(value)) as Prisma.InputJsonValue;
}

/** A text that PostgreSQL accepts. */
export function storableText(text: string): string {
  return text.replace(UNSTORABLE, '\uFFFD');
}

function storable(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value);
  if (Array.isArray(value)) return value.map(storable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [storableText(key), storable(item)]));
}
