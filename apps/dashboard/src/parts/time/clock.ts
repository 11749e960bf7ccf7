/** One clock for all moments on the page. */
import { useSyncExternalStore } from 'react';

/** Ms between two looks at it. */
export const tickMs = 10_000;

let now = Date.now();
const watchers = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** Returns the function that ends it. The clock stands still while it has no watcher. */
export function watchClock(watcher: () => void): () => void {
  if (timer === undefined) {
    now = Date.now();
    timer = setInterval(() => {
      now = Date.now();
      for (const notify of watchers) notify();
    }, tickMs);
  }
  watchers.add(watcher);
  return () => {
    watchers.delete(watcher);
    if (watchers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Ms since 1970, as of the last look. */
export const clockNow = (): number => now;

export function useClock(): number {
  return useSyncExternalStore(watchClock, clockNow);
}
