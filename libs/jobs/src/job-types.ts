/** The words of bulk work. docs/jobs.md says what each state promises; the decisions over them are the other files of this folder. */
import type { CallError, JobId, SendCertainty } from '@flotilla/mcp';

export type JobState = 'AWAITING_APPROVAL' | 'SCHEDULED' | 'PREPARING' | 'RUNNING' | 'PAUSED' | 'CANCELLING' | 'FINISHED';
export type JobConclusion = 'SUCCEEDED' | 'PARTIAL' | 'FAILED' | 'ABORTED' | 'CANCELLED' | 'EXPIRED' | 'DENIED';
export type PauseReason = 'USER' | 'WAVE_GATE' | 'ABORT_RULE' | 'WINDOW_CLOSED' | 'OVERLOAD' | 'DEPENDENCY_DOWN';
export type OfflinePolicy = 'WAIT' | 'SKIP' | 'FAIL';

/** Live states of a target, and DECIDED for all that have an outcome. */
export type TargetState = 'PENDING' | 'READY' | 'WAITING_DEVICE' | 'DISPATCHING' | 'SENT' | 'VERIFYING' | 'RETRY_WAIT' | 'DECIDED';

/** How a target ended. */
export type TargetOutcome =
  'SUCCEEDED' | 'NO_CHANGE' | 'FAILED' | 'REJECTED' | 'VERIFY_FAILED' | 'UNKNOWN' | 'EXPIRED' | 'CANCELLED' | 'SKIPPED';

/** What an operator knows about a tool; exact name, or a prefix ending in `*`, the longest match wins. */
export interface ToolPolicy {
  readonly pattern: string;
  /** May be called twice with the effect of once: the only tools that the hub itself ever sends again. */
  readonly idempotent: boolean;
  readonly disruptive: boolean;
  readonly disconnectExpected: boolean;
  readonly verification: 'NONE' | 'READBACK' | 'REBOOT' | 'FIRMWARE';
  readonly readback: { readonly tool: string; readonly path: string; readonly argument: string } | undefined;
  /** Text of the result that means failure, for example `false`. */
  readonly failureText: string | undefined;
  readonly callTimeoutMs: number;
}

/** Number of targets in each state, as people see it. All but `total` sum to `total`. */
export interface JobProgress {
  readonly total: number;
  readonly pending: number;
  readonly waitingDevice: number;
  readonly inFlight: number;
  readonly verifying: number;
  readonly succeeded: number;
  readonly noChange: number;
  readonly failed: number;
  readonly rejected: number;
  readonly verifyFailed: number;
  readonly unknown: number;
  readonly expired: number;
  readonly cancelled: number;
  readonly skipped: number;
}

/** A job as its row says it. Times are ms since the Unix epoch. */
export interface Job {
  readonly id: JobId;
  readonly name: string | undefined;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly state: JobState;
  readonly conclusion: JobConclusion | undefined;
  readonly pauseReason: PauseReason | undefined;
  /** Grows with every transition; transitions compare and set it. */
  readonly version: number;
  readonly offline: OfflinePolicy;
  /** Never-sent targets become EXPIRED when this passes. */
  readonly expiresAt: number;
  readonly callTimeoutMs: number;
  readonly maxInFlight: number;
  /** The tool's policy as it was when the job was created: a change of policy never changes a running job's promises. */
  readonly idempotent: boolean;
  readonly failureText: string | undefined;
  /** Set once preparation has frozen the target set. */
  readonly total: number | undefined;
  readonly createdBy: string;
  /** Whether the creator may call user-only tools; without it such targets are REJECTED with TOOL_FORBIDDEN. */
  readonly mayCallUserOnly: boolean;
  readonly createdAt: number;
  readonly startedAt: number | undefined;
  readonly finishedAt: number | undefined;
}

/** The end of one attempt on a target, on its way to its row. */
export interface TargetDecision {
  readonly outcome: TargetOutcome;
  readonly certainty: SendCertainty;
  readonly error: CallError | undefined;
}
