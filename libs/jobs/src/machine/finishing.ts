/** The end of a job: its targets that were never sent, its calls in flight, its conclusion. */
import { concludeJob } from '../conclude-job.js';
import type { EarlyConclusion } from '../conclude-job.js';
import type { JobConclusion, JobProgress } from '../job-types.js';
import { beginWatch, isWatched } from './health.js';
import { isIdle, recountMs, sleepMsMax } from './run-state.js';
import { move, recover, sleep, start, update } from './turn.js';
import type { Turn } from './turn.js';
import { expectVerifications } from './verifying.js';

/** Ends never-sent targets at once; calls in flight are awaited, unless the cancel is forced. */
export function endTargets(turn: Turn): void {
  const { run } = turn;
  const { job, round } = run;
  if (!round.hasEnded && (run.mayHaveReady || run.isEndPossible)) {
    update(turn, { round: { ...round, hasEnded: true } });
    // What stops a job writes the conclusion at once. Without one, the job has just expired.
    const outcome = job.conclusion === undefined ? 'EXPIRED' : 'CANCELLED';
    return start(turn, { kind: 'endNeverSent', outcome });
  }
  if (!job.isCancelForced || round.hasForced) return finishOrSleep(turn);
  // Answers that arrived before the cancel are written as they are.
  if (run.unwritten.count > 0 || run.batches > 0) {
    turn.effects.push({ kind: 'flush' });
    return sleep(turn, sleepMsMax);
  }
  // Before the rows are written: from then on, an answer only counts as a late one.
  turn.effects.push({ kind: 'forgetCalls' });
  update(turn, { round: { ...round, hasForced: true }, slots: { ...run.slots, claimed: 0 } });
  start(turn, { kind: 'endInFlight' });
}

/** Counts the targets once nothing is in flight or unwritten, and sleeps otherwise. */
export function finishOrSleep(turn: Turn): void {
  const { run } = turn;
  if (run.slots.claimed === 0) turn.effects.push({ kind: 'flush' });
  if (!run.isEndPossible || !isIdle(run)) return sleep(turn, sleepMsMax);
  if (isWatched(turn)) return;
  update(turn, { isEndPossible: false, finalProgress: undefined });
  start(turn, { kind: 'readTotals' });
}

export function totalsRead(turn: Turn, progress: JobProgress): void {
  const { now } = turn;
  // In flight for PostgreSQL and not for this run: the answer to a claim was lost.
  if (progress.inFlight > 0) return recover(turn);
  const { pending, waitingDevice, verifying } = progress;
  if (pending + waitingDevice + verifying > 0) return;
  update(turn, { finalProgress: progress, recountAt: now + recountMs });
  start(turn, { kind: 'countRows' });
}

/** Counters that had drifted may have hidden targets that are not decided: all is read again. */
export function rowsCounted(turn: Turn, drift: number): void {
  const { finalProgress } = turn.run;
  if (drift > 0) update(turn, { finalProgress: undefined, mayHaveReady: true, isEndPossible: true });
  else if (finalProgress !== undefined && !beginWatch(turn)) conclude(turn, finalProgress);
}

export function recovered(
  turn: Turn,
  { count, verifying }: { readonly count: number; readonly verifying: number },
): void {
  const { run, now } = turn;
  update(turn, { mayHaveReady: true, isEndPossible: true, areWaveCountersDue: true });
  if (verifying > 0) expectVerifications(turn);
  if (run.enteredState === undefined) {
    // After a takeover no process has seen the devices for a while.
    if (run.job.verification !== 'NONE')
      start(turn, { kind: 'extendVerifications', until: now + run.rules.verification.rejoinMs });
  } else if (count === 0) {
    update(turn, { recountAt: now + recountMs });
    start(turn, { kind: 'countRows' });
  }
}

function conclude(turn: Turn, progress: JobProgress): void {
  update(turn, { finalProgress: undefined });
  const { conclusion, total } = turn.run.job;
  // Without a conclusion and before its devices were known, it has expired.
  const early = earlyConclusion(conclusion) ?? (total === undefined ? 'EXPIRED' : undefined);
  move(turn, 'decided', { conclusion: concludeJob(progress, early) });
}

function earlyConclusion(conclusion: JobConclusion | undefined): EarlyConclusion | undefined {
  return conclusion === 'CANCELLED' || conclusion === 'ABORTED' || conclusion === 'DENIED' || conclusion === 'EXPIRED'
    ? conclusion
    : undefined;
}
