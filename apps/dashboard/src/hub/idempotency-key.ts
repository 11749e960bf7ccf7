/**
 * Returns a key for an idempotent mutation. `crypto.randomUUID` is missing on pages over plain
 * HTTP.
 */
export function newIdempotencyKey(): string {
  const bytes = [...crypto.getRandomValues(new Uint8Array(16))];
  return `console-${bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
