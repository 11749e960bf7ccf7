/** The drain of the HTTP server: load balancers notice that it stops, then open requests finish. */
import { setTimeout as pause } from 'node:timers/promises';
import type { SingleCalls } from '@flotilla/fleet';
import type { PartDrain } from '../drain.js';
import type { OpenRequests } from './open-requests.js';

/**
 * Time in which load balancers see that `/health/ready` fails, ms: two probes of a usual interval.
 * At most a quarter of the drain.
 */
const NOTICE_MS = 5_000;
const NOTICE_SHARE = 0.25;
const LOOK_EVERY_MS = 100;

export async function drainHttp(
  { withinMs, hasSuccessor }: PartDrain,
  { openRequests, singleCalls }: { readonly openRequests: OpenRequests; readonly singleCalls: SingleCalls },
): Promise<void> {
  const until = performance.now() + withinMs;
  openRequests.drain();
  if (hasSuccessor()) await pause(Math.min(NOTICE_MS, withinMs * NOTICE_SHARE));
  // Twice in a row: the answer to a call over a WebSocket follows a moment after the call.
  for (let idle = 0; idle < 2 && performance.now() < until;) {
    idle = openRequests.count === 0 && !singleCalls.areUnderWay ? idle + 1 : 0;
    await pause(LOOK_EVERY_MS);
  }
}
