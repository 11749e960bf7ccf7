/** Whether the step from one wave to the next may be made. A tripped rule is looked for before. [jobs §13] */
import type { JobProgress } from '../job-types.js';
import type { Wave } from './wave.js';

export interface GateMoment {
  readonly now: number;
  /** Latest decision of a target of the wave, ms since the Unix epoch; when it was opened where there is none. */
  readonly lastDecidedAt: number;
  readonly stragglerAfterMs: number;
}

export type GateStep =
  | { readonly kind: 'open' }
  /** Nothing to do before a target is decided, or before `until`. */
  | { readonly kind: 'wait'; readonly until?: number }
  /** An operator has to say: the gate is manual, or too few succeeded and no target is left to change that. */
  | { readonly kind: 'hold'; readonly because: 'MANUAL' | 'THRESHOLD' };

/** How long a wave waits for devices that are away, ms: from then on they are stragglers, whose call is made when they come and whose wave goes on. */
export const stragglerAfterMsDefault = 10 * 60_000;

/** Share of a wave that must be decided: all of the canary, since it is there to be looked at; after it one slow device in ten holds up nobody. */
const minDecidedShare = { first: 1, later: 0.9 };

export function judgeGate(wave: Wave, progress: JobProgress, moment: GateMoment): GateStep {
  if (wave.approvedBy !== undefined) return { kind: 'open' };
  const stragglersFrom = (wave.openedAt ?? moment.now) + moment.stragglerAfterMs;
  const stillAwaited = moment.now < stragglersFrom ? progress.waitingDevice : 0;
  const live = progress.pending + progress.inFlight + progress.verifying;
  const decided = progress.total - live - progress.waitingDevice;
  const share = wave.number === 1 ? minDecidedShare.first : minDecidedShare.later;
  // Without a single decision there is nothing to judge by.
  if (decided === 0 || decided < share * (decided + live + stillAwaited))
    return waitFor(stillAwaited > 0 ? stragglersFrom : undefined);
  if (!isThresholdMet(wave, progress, decided)) {
    if (live > 0 || stillAwaited > 0) return waitFor(stillAwaited > 0 ? stragglersFrom : undefined);
    return { kind: 'hold', because: 'THRESHOLD' };
  }
  const soakedAt = moment.lastDecidedAt + wave.soakSeconds * 1_000;
  if (moment.now < soakedAt) return waitFor(soakedAt);
  if (wave.gate === 'AUTO') return { kind: 'open' };
  // Holding pauses the job: what can still be sent of this wave is sent before.
  return live > 0 ? waitFor(undefined) : { kind: 'hold', because: 'MANUAL' };
}

function isThresholdMet(
  { successThreshold }: Wave,
  { succeeded, noChange, cancelled, skipped }: JobProgress,
  decided: number,
): boolean {
  const judged = decided - noChange - cancelled - skipped;
  return judged === 0 || succeeded / judged >= successThreshold;
}

function waitFor(until: number | undefined): GateStep {
  return until === undefined ? { kind: 'wait' } : { kind: 'wait', until };
}
