/** Where a target goes when its call has ended: the whole decision, from the outcome to the row. */
import type { CallError, CallOutcome, SendCertainty, ToolResult } from '@flotilla/mcp';
import { applyFailureText } from './failure-text.js';
import type { Job, TargetOutcome } from './job-types.js';
import { judgeTarget } from './judge-target.js';
import { retryDelayMs } from './retry/retry-delay.js';
import { withRestartNote } from './verification/verification-end.js';
import { verificationDeadlines } from './verification/verification-times.js';
import type { VerificationTimes } from './verification/verification-times.js';
import { verifyAfterCall } from './verification/verify-after-call.js';

/** What was sent, or may have been sent, has these. */
interface Evidence {
  readonly certainty: SendCertainty;
  readonly error: CallError | undefined;
}

export type AttemptEnd =
  | ({ readonly kind: 'decided'; readonly outcome: TargetOutcome; readonly result: ToolResult | undefined } & Evidence)
  /** What the device does next decides. Times are ms since the Unix epoch. */
  | ({
      readonly kind: 'verifying';
      readonly result: ToolResult | undefined;
      readonly deadlineAt: number;
      readonly softDeadlineAt: number | undefined;
      /** When its value is read first, where one is. */
      readonly readAt: number | undefined;
    } & Evidence)
  /** Certainly not sent, as the device is offline: no attempt is counted. */
  | { readonly kind: 'waiting' }
  /** Certainly not sent: claimed again, not before the given time. */
  | { readonly kind: 'ready'; readonly notBefore?: number }
  /** Sent, and sent again at `notBefore`. */
  | ({ readonly kind: 'retry'; readonly notBefore: number } & Evidence);

export interface EndedAttempt {
  readonly outcome: CallOutcome;
  readonly sentAt?: number | undefined;
  readonly settledAt: number;
  /** Attempts on the target, this one included. */
  readonly attempts: number;
  /** Firmware before the send. */
  readonly baselineVersion: string | undefined;
}

interface AttemptRules {
  readonly verification: VerificationTimes;
  readonly imageBytes: number | undefined;
  /** Evenly distributed from 0 to 1. */
  readonly chance: () => number;
  readonly now: number;
}

export interface JudgedAttempt {
  readonly end: AttemptEnd;
  /** The gateway was busy: the slot of the call stays taken for so long. */
  readonly restMs: number | undefined;
}

type JudgedJob = Pick<
  Job,
  'failureText' | 'firmwareImageId' | 'idempotent' | 'maxAttempts' | 'offline' | 'readback' | 'verification'
>;

export function judgeAttempt(job: JudgedJob, attempt: EndedAttempt, rules: AttemptRules): JudgedAttempt {
  const outcome = applyFailureText(attempt.outcome, job.failureText);
  const verified = endBeforeVerification(job, { ...attempt, outcome }, rules);
  if (verified !== undefined) return { end: withRestartNote(verified), restMs: undefined };
  const verdict = judgeTarget(outcome, job);
  switch (verdict.kind) {
    case 'waiting':
      return { end: { kind: 'waiting' }, restMs: undefined };
    case 'ready':
      return { end: { kind: 'ready', notBefore: rules.now + verdict.delayMs }, restMs: verdict.delayMs };
    case 'decided': {
      const { decision, result } = verdict;
      const delayMs = retryDelayMs(decision, job, attempt.attempts, rules.chance());
      const { certainty, error } = decision;
      if (delayMs === undefined)
        return { end: { kind: 'decided', outcome: decision.outcome, certainty, error, result }, restMs: undefined };
      return { end: { kind: 'retry', notBefore: rules.now + delayMs, certainty, error }, restMs: undefined };
    }
  }
}

/** Counts as a failure for abort rules that have not seen it yet. */
export function isFailure(end: AttemptEnd): boolean {
  return end.kind === 'decided' && end.outcome !== 'SUCCEEDED' && end.outcome !== 'NO_CHANGE';
}

/** Undefined where the end of the call decides. */
function endBeforeVerification(
  job: JudgedJob,
  { outcome, sentAt, settledAt, baselineVersion }: EndedAttempt,
  { verification: times, imageBytes }: AttemptRules,
): AttemptEnd | undefined {
  if (job.verification === 'READBACK' && job.readback === undefined) return undefined;
  const from = sentAt ?? settledAt;
  const next = verifyAfterCall(job, { outcome, durationMs: settledAt - from, baselineVersion });
  if (next.kind === 'callDecides') return undefined;
  const { certainty, result } = outcome;
  // Of a roll-out the next look decides: only it knows whether the hub had cut the download.
  if (next.kind === 'decided' && job.firmwareImageId === undefined)
    return { kind: 'decided', ...next.decision, certainty, result };
  const error = next.kind === 'decided' ? next.decision.error : next.error;
  const { deadlineMs, softMs } = verificationDeadlines(job.verification, times, imageBytes);
  const isRead = job.verification === 'READBACK';
  const begin = isRead ? settledAt : from;
  return {
    kind: 'verifying',
    certainty,
    error,
    result,
    deadlineAt: begin + deadlineMs,
    softDeadlineAt: softMs === undefined ? undefined : begin + softMs,
    readAt: isRead ? begin + (job.readback?.settleMs ?? times.readbackDelayMs) : undefined,
  };
}
