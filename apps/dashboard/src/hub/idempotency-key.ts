/**
 * Returns a key for an idempotent mutation. `crypto.randomUUID` is missing on pages over plain
 * HTTP.
 */
export function newIdempotencyKey(): string {
  return `console-${[...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
