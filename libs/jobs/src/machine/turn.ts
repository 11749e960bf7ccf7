/** One step under way, and the moves that all parts of the machine make. */
import { nextJobState } from '../job-transitions.js';
import type { JobTrigger } from '../job-transitions.js';
import { verificationDeadlines } from '../verification/verification-times.js';
import type { RunEffect, RunMove, RunTask } from './run-input.js';
import { markSentAfterMs, newRound, recountMs } from './run-state.js';
import type { RunState } from './run-state.js';

/** The value so far, and the effects that it asks for. */
export interface Turn {
  run: RunState;
  readonly now: number;
  readonly rowsMax: number;
  readonly effects: RunEffect[];
  /** Whether the input is a reason to decide again although the run sleeps. */
  isWoken: boolean;
}

export function update(turn: Turn, change: Partial<RunState>): void {
  turn.run = { ...turn.run, ...change };
}

export function wake(turn: Turn, change: Partial<RunState>): void {
  update(turn, change);
  turn.isWoken = true;
}

/** Makes everything due that waits for a time, as after the clock was set back. */
export function forgetTimes(turn: Turn): void {
  const { run, now } = turn;
  wake(turn, {
    checkAllAt: -Infinity,
    healthAt: -Infinity,
    retryAt: -Infinity,
    claimAt: -Infinity,
    markSentAt: -Infinity,
    recountAt: now + recountMs,
    rowReadAt: now,
    areWaveCountersDue: true,
    window: undefined,
    gatherUntil: undefined,
    verifying: { ...run.verifying, lookAt: -Infinity },
  });
}

export function start(turn: Turn, task: RunTask): void {
  update(turn, { task: task.kind, sleep: undefined });
  turn.effects.push(task);
}

/** Sleeps until an input wakes the run, or at most for `ms`. Marks old calls as sent before. */
export function sleep(turn: Turn, ms: number, kind: 'IDLE' | 'SHORT' = 'IDLE'): void {
  const { run, now } = turn;
  if (run.slots.claimed > 0 && now >= run.markSentAt) {
    update(turn, { markSentAt: now + markSentAfterMs });
    return start(turn, { kind: 'markSent' });
  }
  const { isAnyExpected, lookAt } = run.verifying;
  const isLookSooner = isAnyExpected && lookAt > now && lookAt < now + ms;
  update(turn, { sleep: kind, round: newRound });
  turn.effects.push({ kind: 'sleep', ms: isLookSooner ? lookAt - now : ms });
}

/** Moves the job; reads its row again where the trigger means nothing in its state. */
export function move(turn: Turn, trigger: JobTrigger, why: Omit<RunMove, 'state'> = {}): void {
  const state = nextJobState(turn.run.job, trigger);
  if (state === undefined) return update(turn, { isRowStale: true });
  start(turn, { kind: 'moveJob', move: { state, ...why } });
}

/** Finds targets that are in flight in PostgreSQL, and not in this run. */
export function recover(turn: Turn): void {
  const { job, rules, imageBytes } = turn.run;
  const deadlines = verificationDeadlines(job.verification, rules.verification, imageBytes);
  start(turn, { kind: 'recover', deadlines });
}
