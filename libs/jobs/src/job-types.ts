/** The types of bulk work. docs/jobs.md explains what each state promises. */
import type { CallError, JobId, SendCertainty } from '@flotilla/mcp';
import type { AbortRule, TrippedRule } from './abort/abort-rule.js';
import type { HealthGate, TrippedHealthGate } from './health/health-gate.js';
import type { DailyWindow } from './schedule/daily-window.js';
import type { WaveSpec } from './waves/wave.js';

export type JobState =
  'AWAITING_APPROVAL' | 'SCHEDULED' | 'PREPARING' | 'RUNNING' | 'PAUSED' | 'CANCELLING' | 'FINISHED';
export type JobConclusion = 'SUCCEEDED' | 'PARTIAL' | 'FAILED' | 'ABORTED' | 'CANCELLED' | 'EXPIRED' | 'DENIED';
export type PauseReason = 'USER' | 'WAVE_GATE' | 'ABORT_RULE' | 'HEALTH_GATE' | 'WINDOW_CLOSED';
export type OfflinePolicy = 'WAIT' | 'SKIP' | 'FAIL';

/** Live states of a target, and DECIDED for all with an outcome. */
export type TargetState =
  'PENDING' | 'READY' | 'WAITING_DEVICE' | 'DISPATCHING' | 'SENT' | 'VERIFYING' | 'RETRY_WAIT' | 'DECIDED';

/** How a target ended. */
export type TargetOutcome =
  'SUCCEEDED' | 'NO_CHANGE' | 'FAILED' | 'REJECTED' | 'VERIFY_FAILED' | 'UNKNOWN' | 'EXPIRED' | 'CANCELLED' | 'SKIPPED';

/** How it is proved that a call had its effect. */
export type Verification = 'NONE' | 'READBACK' | 'REBOOT' | 'FIRMWARE';

/**
 * After the call, `tool` is called; the value at `path` of its JSON must equal argument `argument`.
 */
export interface Readback {
  readonly tool: string;
  readonly path: string;
  readonly argument: string;
  /** A difference of numbers up to this counts as equal (0). */
  readonly tolerance?: number | undefined;
  /** Time between the answer and the reading, ms (600). */
  readonly settleMs?: number | undefined;
}

/**
 * What operators know about a tool. `pattern` is a name, or a prefix ending in `*`; the longest
 * wins.
 */
export interface ToolPolicy {
  readonly pattern: string;
  /** Two calls have the effect of one: the hub itself repeats only such tools. */
  readonly idempotent: boolean;
  readonly disruptive: boolean;
  /** Whether it only reads, as a hint for agents; undefined where the operator has not said. */
  readonly readOnly: boolean | undefined;
  readonly disconnectExpected: boolean;
  readonly verification: Verification;
  readonly readback: Readback | undefined;
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
  /** A cancel that does not wait for calls in flight: they end UNKNOWN. */
  readonly isCancelForced: boolean;
  /** Grows with every transition; transitions compare and set it. */
  readonly version: number;
  readonly offline: OfflinePolicy;
  /** Never-sent targets become EXPIRED when this passes. */
  readonly expiresAt: number;
  readonly callTimeoutMs: number;
  readonly maxInFlight: number;
  /** The tool's policy at creation: a later change does not affect the job. */
  readonly idempotent: boolean;
  readonly disruptive: boolean;
  readonly disconnectExpected: boolean;
  readonly failureText: string | undefined;
  readonly verification: Verification;
  readonly readback: Readback | undefined;
  /** Attempts per target, the first one included; more than one only for idempotent tools. */
  readonly maxAttempts: number;
  /** A target whose state is already as wanted ends NO_CHANGE. */
  readonly skipIfSatisfied: boolean;
  /** The most sends per minute. */
  readonly perMinute: number | undefined;
  /** 1 to 3: its weight beside other jobs where slots are scarce. */
  readonly priority: number;
  /** Empty where all targets may go at once. */
  readonly waves: readonly WaveSpec[];
  /** The open wave, from 1 on. */
  readonly currentWave: number;
  readonly abortRules: readonly AbortRule[];
  /** The latest rule that stopped the job. */
  readonly trippedRule: TrippedRule | undefined;
  /** Watches the restarts of a roll-out; undefined without a gate. */
  readonly healthGate?: HealthGate | undefined;
  /** What stopped it by its health gate last. */
  readonly trippedHealthGate?: TrippedHealthGate | undefined;
  readonly startAt: number | undefined;
  readonly window: DailyWindow | undefined;
  readonly firmwareImageId: string | undefined;
  /** The job whose targets this one took over. */
  readonly parentJobId: JobId | undefined;
  /** Who approved or denied it. */
  readonly approvedBy: string | undefined;
  /** Set once preparation has frozen the target set. */
  readonly total: number | undefined;
  readonly createdBy: string;
  /** Who that is: names are not unique. */
  readonly createdById: string;
  /** The person behind the creator (kind and id), who may not approve the job. */
  readonly createdByOwner?: string | undefined;
  /** The number of devices that an approval covers; undefined where it needs no approval. */
  readonly approvalTargets?: number | undefined;
  /** Without it, targets with a user-only tool are REJECTED with TOOL_FORBIDDEN. */
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
