/** Bounds the time of a wait. The work itself goes on. */
import type { Clock } from '@flotilla/session';

const nodeTimers: Pick<Clock, 'setTimer'> = {
  setTimer(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

/** Returns the value of `work`, or what `onTimeout` returns or throws after `timeoutMs`. */
export function withTimeout<Value>(
  work: Promise<Value>,
  timeoutMs: number,
  onTimeout: () => Value,
  timers: Pick<Clock, 'setTimer'> = nodeTimers,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const cancel = timers.setTimer(timeoutMs, () => void Promise.resolve().then(onTimeout).then(resolve, reject));
    work.then(resolve, reject).finally(cancel);
  });
}
