/** Sends a running job: what comes before the next claim, and when that claim is made. */
import { claimLimit, isClaimWorthwhile } from '../intent-batch.js';
import type { Job } from '../job-types.js';
import { paceOf } from '../pace/pace.js';
import { allowedNow, spent, waitForPaceMs } from '../pace/pace-state.js';
import { readWaveCounters } from './counters.js';
import { finishOrSleep } from './finishing.js';
import type { FlushedBatch } from './run-input.js';
import { gatherSlotsMs, newRound, sleepMsMax, slotsTaken, unwrittenMax } from './run-state.js';
import { sleep, start, update, wake } from './turn.js';
import type { Turn } from './turn.js';
import { expectVerifications } from './verifying.js';

/** Reads changed counters before any claim and before the end: they may ask for a stop. */
export function send(turn: Turn): void {
  const { run, now } = turn;
  if ((run.areWaveCountersDue || now >= run.gateAt) && readWaveCounters(turn)) return;
  if (run.job.waves.length > 0 && run.isOpening && !run.round.hasOpened) {
    update(turn, { round: { ...run.round, hasOpened: true } });
    return start(turn, { kind: 'openTargets' });
  }
  if (now >= run.retryAt) {
    update(turn, { retryAt: Infinity });
    return start(turn, { kind: 'releaseRetries' });
  }
  if (run.mayHaveReady) return claimOrWait(turn);
  turn.effects.push({ kind: 'withdraw' });
  finishOrSleep(turn);
}

/** Claims when enough slots are free, or when some are and have waited for more. */
function claimOrWait(turn: Turn): void {
  const { run, now, rowsMax } = turn;
  const { job } = run;
  if (!canClaim(turn)) {
    update(turn, { gatherUntil: undefined });
    return sleep(turn, sleepMsMax);
  }
  if (paceOf(job) === undefined && !isClaimWorthwhile(job, slotsTaken(run), rowsMax)) {
    const gatherUntil = run.gatherUntil ?? now + gatherSlotsMs;
    update(turn, { gatherUntil });
    if (now < gatherUntil) return sleep(turn, gatherUntil - now, 'SHORT');
  }
  if (job.abortRules.length > 0 && run.unwritten.failures > 0) {
    // A rule counts what is written. It must count these failures before more is sent.
    turn.effects.push({ kind: 'flush' });
    return sleep(turn, sleepMsMax);
  }
  if (run.batches > (mayClaimAhead(job) ? 1 : 0)) return sleep(turn, sleepMsMax);
  if (now < run.claimAt) return sleep(turn, Math.min(run.claimAt - now, sleepMsMax));
  claimAtPace(turn);
}

function claimAtPace(turn: Turn): void {
  const { run, now, rowsMax } = turn;
  const { limit, pace } = allowedNow(run.pace, run.job, claimLimit(run.job, slotsTaken(run), rowsMax), now);
  update(turn, { pace, gatherUntil: undefined });
  if (limit > 0) return start(turn, { kind: 'claim', limit });
  const waitMs = waitForPaceMs(pace, run.job);
  sleep(turn, Math.min(waitMs, sleepMsMax), waitMs < sleepMsMax ? 'SHORT' : 'IDLE');
}

/** Whether a slot is free, and PostgreSQL keeps up with what comes back. */
function canClaim({ run, rowsMax }: Turn): boolean {
  return run.unwritten.count < unwrittenMax && claimLimit(run.job, slotsTaken(run), rowsMax) > 0;
}

/** Not where each claim is a risk, nor where a rule counts a batch before the next. [jobs §6] */
function mayClaimAhead({ idempotent, abortRules, firmwareImageId }: Job): boolean {
  return idempotent && abortRules.length === 0 && firmwareImageId === undefined;
}

export function claimed(turn: Turn, count: number | undefined): void {
  const { run, now } = turn;
  update(turn, { round: newRound });
  // `slotsGranted` wakes the run before that.
  if (count === undefined) return update(turn, { claimAt: now + sleepMsMax });
  // The targets at the head went offline, or nothing is left, or PostgreSQL does not allow a claim.
  if (count === 0) return start(turn, { kind: 'readPending' });
  update(turn, {
    slots: { ...run.slots, claimed: run.slots.claimed + count },
    batches: run.batches + 1,
    emptyClaims: 0,
    pace: spent(run.pace, run.job, count),
  });
  turn.effects.push({ kind: 'send' });
}

export function batchSent(turn: Turn, unsent: number): void {
  const { batches, slots } = turn.run;
  wake(turn, { batches: batches - 1, slots: { ...slots, claimed: slots.claimed - unsent } });
}

/**
 * Wakes the run when a full job has a free slot, when a claim is worthwhile, and when all slots are
 * free.
 */
export function targetEnded(
  turn: Turn,
  { isFailure, restMs }: { readonly isFailure: boolean; readonly restMs: number | undefined },
): void {
  const { slots, unwritten, job } = turn.run;
  const wasFull = slotsTaken(turn.run) >= job.maxInFlight;
  if (restMs !== undefined) turn.effects.push({ kind: 'rest', ms: restMs });
  update(turn, {
    slots: { ...slots, claimed: slots.claimed - 1, resting: slots.resting + (restMs === undefined ? 0 : 1) },
    unwritten: { count: unwritten.count + 1, failures: unwritten.failures + (isFailure ? 1 : 0) },
  });
  if (wasFull || slots.claimed === 1 || isClaimWorthwhile(job, slotsTaken(turn.run), turn.rowsMax)) turn.isWoken = true;
}

export function restEnded(turn: Turn): void {
  const { slots } = turn.run;
  wake(turn, { slots: { ...slots, resting: slots.resting - 1 } });
}

export function flushed(turn: Turn, batch: FlushedBatch): void {
  const { run } = turn;
  const { unwritten } = run;
  if (batch.isSomeVerifying) expectVerifications(turn);
  turn.effects.push({ kind: 'notify' });
  wake(turn, {
    unwritten: { count: unwritten.count - batch.count, failures: unwritten.failures - batch.failures },
    retryAt: Math.min(run.retryAt, batch.retryAt),
    isEndPossible: true,
    areWaveCountersDue: true,
    mayHaveReady: run.mayHaveReady || batch.isSomeReady,
    claimAt: -Infinity,
  });
}
