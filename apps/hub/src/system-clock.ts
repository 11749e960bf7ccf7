/** The real clock, for everything that takes time as an argument. */
import type { Clock } from '@flotilla/session';

export const systemClock: Clock = {
  now: Date.now,
  setTimer: (delayMs, wake) => {
    const timer = setTimeout(wake, delayMs);
    return () => clearTimeout(timer);
  },
};
