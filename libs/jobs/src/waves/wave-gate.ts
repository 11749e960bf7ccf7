/** Whether the next wave may open. Tripped rules are checked before. [jobs §13] */
import type { JobProgress } from '../job-types.js';
import type { Wave } from './wave.js';

interface GateMoment {
  readonly now: number;
  /** Latest decision in the wave, ms since the Unix epoch; its opening without one. */
  readonly lastDecidedAt: number;
  readonly stragglerAfterMs: number;
}

type GateStep =
  | { readonly kind: 'open' }
  /** Nothing to do before a target is decided, or before `until`. */
  | { readonly kind: 'wait'; readonly until?: number }
  /** An operator has to decide: the gate is manual, or the threshold can no longer be met. */
  | { readonly kind: 'hold'; readonly because: 'MANUAL' | 'THRESHOLD' };

/**
 * How long a wave waits for offline devices, ms. Later they are called when they return, and the
 * wave goes on.
 */
export const stragglerAfterMsDefault = 10 * 60_000;

/**
 * Share of a wave that must be decided: the whole canary; later one slow device in ten blocks
 * nothing.
 */
const minDecidedShare = { first: 1, later: 0.9 };

export function judgeGate(wave: Wave, progress: JobProgress, moment: GateMoment): GateStep {
  if (wave.approvedBy !== undefined) return { kind: 'open' };
  const stragglersFrom = (wave.openedAt ?? moment.now) + moment.stragglerAfterMs;
  const stillAwaited = moment.now < stragglersFrom ? progress.waitingDevice : 0;
  const live = progress.pending + progress.inFlight + progress.verifying;
  const decided = decidedIn(progress);
  const share = wave.number === 1 ? minDecidedShare.first : minDecidedShare.later;
  // Without a single decision there is nothing to judge by.
  if (decided === 0 || decided < share * (decided + live + stillAwaited))
    return waitFor(stillAwaited > 0 ? stragglersFrom : undefined);
  if ((successShare(progress) ?? 1) < wave.successThreshold) {
    if (live > 0 || stillAwaited > 0) return waitFor(stillAwaited > 0 ? stragglersFrom : undefined);
    return { kind: 'hold', because: 'THRESHOLD' };
  }
  const soakedAt = moment.lastDecidedAt + wave.soakSeconds * 1_000;
  if (moment.now < soakedAt) return waitFor(soakedAt);
  if (wave.gate === 'AUTO') return { kind: 'open' };
  // Holding pauses the job: what can still be sent of this wave is sent before.
  return live > 0 ? waitFor(undefined) : { kind: 'hold', because: 'MANUAL' };
}

/**
 * The share that a threshold is compared with: the successes among the decided targets that are not
 * neutral. Undefined where none is decided, or all are neutral.
 */
export function successShare(progress: JobProgress): number | undefined {
  const { cancelled, noChange, skipped, succeeded } = progress;
  const judged = decidedIn(progress) - noChange - cancelled - skipped;
  return judged === 0 ? undefined : succeeded / judged;
}

function decidedIn({ inFlight, pending, total, verifying, waitingDevice }: JobProgress): number {
  return total - pending - inFlight - verifying - waitingDevice;
}

function waitFor(until: number | undefined): GateStep {
  return until === undefined ? { kind: 'wait' } : { kind: 'wait', until };
}
