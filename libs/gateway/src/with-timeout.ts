/** Puts an end to waiting. What was waited for goes on; its late result goes nowhere. */
import type { Clock } from '@flotilla/session';
import { GatewayError } from './gateway-error.js';

/** Rejects with GatewayError TIMEOUT after `limitMs`. */
export function inTime<Value>(awaited: Promise<Value>, limitMs: number, clock: Clock): Promise<Value> {
  return new Promise((resolve, reject) => {
    const cancel = clock.setTimer(limitMs, () => reject(new GatewayError('TIMEOUT', `no answer within ${limitMs} ms`)));
    awaited.then(resolve, reject).finally(cancel);
  });
}
