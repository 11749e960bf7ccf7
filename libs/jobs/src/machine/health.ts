/** The health gate of a roll-out: looks at restarts, stops the job, and watches its end. */
import { isUnhealthy } from '../health/health-gate.js';
import type { HealthEvidence, TrippedHealthGate } from '../health/health-gate.js';
import type { Job } from '../job-types.js';
import { sleepMsMax } from './run-state.js';
import type { RunState } from './run-state.js';
import { move, sleep, start, update } from './turn.js';
import type { Turn } from './turn.js';

/** Between two looks, ms. */
const lookEveryMs = 10_000;

/** True where a look at the restarts was started. */
export function readHealth(turn: Turn): boolean {
  const { run, now } = turn;
  if (run.job.healthGate === undefined || !isLookedAt(run) || now < run.healthAt) return false;
  update(turn, { healthAt: now + lookEveryMs });
  start(turn, { kind: 'readHealth' });
  return true;
}

/**
 * A pause does not end the watch after the last decision. While targets are left, a paused job is
 * looked at only after it resumes.
 */
function isLookedAt({ job, endAt }: RunState): boolean {
  if (job.state === 'PAUSED') return job.pauseReason !== 'HEALTH_GATE' && endAt !== undefined;
  return job.state === 'RUNNING';
}

export function healthRead(turn: Turn, evidence: HealthEvidence | undefined): void {
  const { healthGate } = turn.run.job;
  if (healthGate === undefined || evidence === undefined || !isUnhealthy(healthGate, evidence)) return;
  const { version, restarts, deviceHours, baselineRestarts, baselineDeviceHours } = evidence;
  const counts = { version, restarts, deviceHours, baselineRestarts, baselineDeviceHours };
  const trippedHealthGate: TrippedHealthGate = { ...counts, at: turn.now };
  if (healthGate.action === 'CANCEL') move(turn, 'cancel', { conclusion: 'ABORTED', trippedHealthGate });
  // It may be paused already, for a reason that may end by itself.
  else start(turn, { kind: 'moveJob', move: { state: 'PAUSED', pauseReason: 'HEALTH_GATE', trippedHealthGate } });
}

/** A job in CANCELLING ends in any case: nothing is left to stop. */
function mayBeWatched({ healthGate, state }: Job): boolean {
  return healthGate !== undefined && state !== 'CANCELLING';
}

/** True while the job must not end: its end is watched, or an operator has to decide. */
export function isWatched(turn: Turn): boolean {
  const { job, endAt } = turn.run;
  if (!mayBeWatched(job)) return false;
  const isStopped = job.state === 'PAUSED' && job.pauseReason === 'HEALTH_GATE';
  if (!isStopped && (endAt === undefined || turn.now >= endAt)) return false;
  sleep(turn, sleepMsMax);
  return true;
}

/** True where the end of the last decision is read, which the time of watching begins with. */
export function beginWatch(turn: Turn): boolean {
  const { job, endAt } = turn.run;
  if (!mayBeWatched(job) || endAt !== undefined) return false;
  // Of all waves: a device of an earlier one may have been away until now.
  start(turn, { kind: 'readLastDecision', wave: undefined });
  return true;
}

/** The last decision was at `at`; undefined without one. */
export function watchUntil(turn: Turn, at: number | undefined): void {
  const observeMs = (turn.run.job.healthGate?.observeSeconds ?? 0) * 1_000;
  update(turn, { endAt: at === undefined ? turn.now : at + observeMs, finalProgress: undefined, isEndPossible: true });
}
