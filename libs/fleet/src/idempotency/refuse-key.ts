/** The rule for idempotency keys, the same wherever one is taken. */
import { refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';

/** Characters: a UUID and a prefix of the program. Keys are stored and indexed. */
export const idempotencyKeyLengthMax = 255;

export function refuseKey(key: string, path: readonly string[]): Refusal | undefined {
  if (key.length >= 1 && key.length <= idempotencyKeyLengthMax) return undefined;
  return refuse('INVALID', path, `An idempotency key has 1 to ${idempotencyKeyLengthMax} characters.`);
}
