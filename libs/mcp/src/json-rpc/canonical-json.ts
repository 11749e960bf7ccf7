/** Serialises a value as JSON with sorted members: equal values have one text and one hash. */
import { isJsonObject } from './json-text.js';
import type { JsonObject } from './json-text.js';

export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => (isJsonObject(member) ? sorted(member) : member));
}

function sorted(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
}
