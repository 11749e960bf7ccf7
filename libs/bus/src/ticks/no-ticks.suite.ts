/** The ticks of specs in which no worker runs. */
import type { TickQueue } from './tick-queue.js';

export const noTicks: TickQueue = {
  add: () => Promise.resolve(),
  repeat: () => Promise.resolve(),
  work: () => Promise.resolve(),
  rest: () => Promise.resolve(),
  depth: () => Promise.resolve(0),
};
