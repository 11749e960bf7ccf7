/** The number of alerts that fire, which the window title shows. The inbox writes it. */
let count = 0;
const watchers = new Set<() => void>();

export const firingCount = {
  get: (): number => count,
  set: (next: number): void => {
    if (next === count) return;
    count = next;
    for (const notify of watchers) notify();
  },
  subscribe: (watcher: () => void): (() => void) => {
    watchers.add(watcher);
    return () => watchers.delete(watcher);
  },
};
