/** A fingerprint of a request, so that an idempotency key used for another one is noticed. The order of members does not matter. */
import { createHash } from 'node:crypto';

export function requestHash(request: unknown): string {
  return createHash('sha256').update(canonicalJson(request)).digest('hex');
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => (isPlainObject(member) ? sorted(member) : member));
}

function sorted(object: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
