/** The real clock. Tests use a manual one. */
import type { Clock } from '@flotilla/session';

export const systemClock: Clock = {
  now: Date.now,
  setTimer: (delayMs, wake) => {
    const timer = setTimeout(wake, delayMs);
    return () => clearTimeout(timer);
  },
};
