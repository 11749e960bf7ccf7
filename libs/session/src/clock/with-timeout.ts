/** Limits the time to wait for a promise. The work itself continues, and a late end is ignored. */
import type { Clock } from './clock.js';

/** Returns the value of `work`, or what `onTimeout` returns or throws after `timeoutMs`. */
export function withTimeout<Value>(
  work: Promise<Value>,
  timeoutMs: number,
  timers: Pick<Clock, 'setTimer'>,
  onTimeout: () => Value = () => {
    throw new TimeoutError(`no answer within ${timeoutMs} ms`);
  },
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const cancel = timers.setTimer(timeoutMs, () => {
      try {
        resolve(onTimeout());
      } catch (error) {
        reject(error as Error);
      }
    });
    // Two callbacks in place of `finally`, because a call over HTTP or MQTT waits here.
    work.then(
      (value) => {
        cancel();
        resolve(value);
      },
      (error: unknown) => {
        cancel();
        reject(error as Error);
      },
    );
  });
}

/** An answer did not arrive in time. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}
