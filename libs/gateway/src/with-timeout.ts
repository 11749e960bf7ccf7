/** Limits the time to wait for a promise. The work continues; a late result is ignored. */
import type { Clock } from '@flotilla/session';
import { GatewayError } from './gateway-error.js';

/** Rejects with GatewayError TIMEOUT after `limitMs`. */
export function withTimeout<Value>(awaited: Promise<Value>, limitMs: number, clock: Clock): Promise<Value> {
  return new Promise((resolve, reject) => {
    const cancel = clock.setTimer(limitMs, () => reject(new GatewayError('TIMEOUT', `no answer within ${limitMs} ms`)));
    awaited.then(resolve, reject).finally(cancel);
  });
}
