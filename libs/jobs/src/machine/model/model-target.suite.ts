/** A target of the model: its row, the end of a claim, and which counter it belongs to. */
import type { CallError, CallId, CallOutcome } from '@flotilla/mcp';
import { judgeAttempt } from '../../attempt-end.js';
import type { AttemptEnd, JudgedAttempt } from '../../attempt-end.js';
import type { Job, JobProgress, TargetOutcome } from '../../job-types.js';
import type { ModelDevice } from './model-device.suite.js';
import { modelTimes } from './model-job.suite.js';

export type ModelState =
  'PENDING' | 'READY' | 'WAITING_DEVICE' | 'DISPATCHING' | 'RETRY_WAIT' | 'VERIFYING' | 'DECIDED';

export interface ModelTarget {
  readonly device: ModelDevice;
  readonly wave: number;
  state: ModelState;
  outcome: TargetOutcome | undefined;
  error: CallError | undefined;
  claims: number;
  attempts: number;
  /** How often its call reached, or may have reached, the device. */
  sends: number;
  readyAt: number;
  decidedAt: number;
  callId: CallId;
  sentEpoch: number;
  startedAt: number;
  baseline: string;
  /** How often its device had left before. */
  leftBefore: number;
  /** A lost claim is found later, perhaps after its deadline. */
  verifyingSince: number;
  deadlineAt: number;
  softDeadlineAt: number | undefined;
  readAt: number;
}

/** An end of a claim that is not written yet. */
export interface UnwrittenEnd {
  readonly target: ModelTarget;
  readonly claims: number;
  readonly to: AttemptEnd;
}

const outcomeCounters: Readonly<Record<TargetOutcome, keyof JobProgress>> = {
  SUCCEEDED: 'succeeded',
  NO_CHANGE: 'noChange',
  FAILED: 'failed',
  REJECTED: 'rejected',
  VERIFY_FAILED: 'verifyFailed',
  UNKNOWN: 'unknown',
  EXPIRED: 'expired',
  CANCELLED: 'cancelled',
  SKIPPED: 'skipped',
};
const stateCounters: Readonly<Record<Exclude<ModelState, 'DECIDED'>, keyof JobProgress>> = {
  PENDING: 'pending',
  READY: 'pending',
  RETRY_WAIT: 'pending',
  WAITING_DEVICE: 'waitingDevice',
  DISPATCHING: 'inFlight',
  VERIFYING: 'verifying',
};

/** Which counter of its wave counts a target. */
export function counterOf({ state, outcome }: ModelTarget): keyof JobProgress {
  return state === 'DECIDED' ? outcomeCounters[outcome ?? 'UNKNOWN'] : stateCounters[state];
}

/** Where a target goes whose call ends now. */
export function endOf(job: Job, target: ModelTarget, outcome: CallOutcome, now: number): JudgedAttempt {
  const { attempts, baseline, startedAt } = target;
  const attempt = { outcome, sentAt: startedAt, settledAt: now, attempts, baselineVersion: baseline };
  return judgeAttempt(job, attempt, { verification: modelTimes, imageBytes: undefined, chance: () => 0.5, now });
}
