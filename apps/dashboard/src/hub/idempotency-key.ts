/** A key under which the hub does an act once, however often it is asked. `crypto.randomUUID` is not there for pages that came by plain HTTP. */
export function newIdempotencyKey(): string {
  return `console-${[...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
