/** Rows of jobs and of their counters. */
import type {
  AbortRule,
  DailyWindow,
  HealthGate,
  Job,
  JobProgress,
  Readback,
  TrippedHealthGate,
  TrippedRule,
  WaveSpec,
} from '@flotilla/jobs';
import { maskArguments } from '@flotilla/mcp';
import type { JobId } from '@flotilla/mcp';

/** Columns of a JobRecord. */
export const JOB_COLUMNS = `id, name, tool, arguments, state, conclusion, pause_reason, cancel_forced, version,
  offline, expires_at, call_timeout_ms, max_in_flight, idempotent, disruptive, disconnect_expected, failure_text,
  verification, readback, max_attempts, skip_if_satisfied, per_minute, priority, waves, current_wave, abort_rules,
  tripped_rule, health_gate, tripped_health_gate, start_at, daily_window, firmware_image_id, parent_job_id, approved_by,
  total, created_by,
  created_by_id, created_by_owner, approval_targets, may_call_user_only, created_at, started_at, finished_at,
  request_hash`;

export interface JobRecord {
  readonly id: string;
  readonly name: string | null;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly state: Job['state'];
  readonly conclusion: Job['conclusion'] | null;
  readonly pause_reason: Job['pauseReason'] | null;
  readonly cancel_forced: boolean;
  readonly version: number;
  readonly offline: Job['offline'];
  readonly expires_at: Date;
  readonly call_timeout_ms: number;
  readonly max_in_flight: number;
  readonly idempotent: boolean;
  readonly disruptive: boolean;
  readonly disconnect_expected: boolean;
  readonly failure_text: string | null;
  readonly verification: Job['verification'];
  readonly readback: Readback | null;
  readonly max_attempts: number;
  readonly skip_if_satisfied: boolean;
  readonly per_minute: number | null;
  readonly priority: number;
  readonly waves: readonly WaveSpec[];
  readonly current_wave: number;
  readonly abort_rules: readonly AbortRule[];
  readonly tripped_rule: TrippedRule | null;
  readonly health_gate: HealthGate | null;
  readonly tripped_health_gate: TrippedHealthGate | null;
  readonly start_at: Date | null;
  readonly daily_window: DailyWindow | null;
  readonly firmware_image_id: string | null;
  readonly parent_job_id: string | null;
  readonly approved_by: string | null;
  readonly total: number | null;
  readonly created_by: string;
  readonly created_by_id: string;
  readonly created_by_owner: string | null;
  readonly approval_targets: number | null;
  readonly may_call_user_only: boolean;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
  readonly request_hash: string;
}

export function jobOf(record: JobRecord): Job {
  return {
    id: record.id as JobId,
    name: record.name ?? undefined,
    tool: record.tool,
    // Rows of older versions contain secrets.
    arguments: maskArguments(record.tool, record.arguments),
    state: record.state,
    conclusion: record.conclusion ?? undefined,
    pauseReason: record.pause_reason ?? undefined,
    isCancelForced: record.cancel_forced,
    version: record.version,
    offline: record.offline,
    expiresAt: record.expires_at.getTime(),
    callTimeoutMs: record.call_timeout_ms,
    maxInFlight: record.max_in_flight,
    idempotent: record.idempotent,
    disruptive: record.disruptive,
    disconnectExpected: record.disconnect_expected,
    failureText: record.failure_text ?? undefined,
    verification: record.verification,
    readback: record.readback ?? undefined,
    maxAttempts: record.max_attempts,
    skipIfSatisfied: record.skip_if_satisfied,
    perMinute: record.per_minute ?? undefined,
    priority: record.priority,
    waves: record.waves,
    currentWave: record.current_wave,
    abortRules: record.abort_rules,
    trippedRule: record.tripped_rule ?? undefined,
    healthGate: record.health_gate ?? undefined,
    trippedHealthGate: record.tripped_health_gate ?? undefined,
    startAt: record.start_at?.getTime(),
    window: record.daily_window ?? undefined,
    firmwareImageId: record.firmware_image_id ?? undefined,
    parentJobId: (record.parent_job_id as JobId | null) ?? undefined,
    approvedBy: record.approved_by ?? undefined,
    total: record.total ?? undefined,
    createdBy: record.created_by,
    createdById: record.created_by_id,
    createdByOwner: record.created_by_owner ?? undefined,
    approvalTargets: record.approval_targets ?? undefined,
    mayCallUserOnly: record.may_call_user_only,
    createdAt: record.created_at.getTime(),
    startedAt: record.started_at?.getTime(),
    finishedAt: record.finished_at?.getTime(),
  };
}

/** Sums of the counter columns. PostgreSQL returns them as text. */
export type CounterRecord = Readonly<Record<CounterColumn, string | number>> & {
  readonly job_id: string;
  readonly total: number | null;
};

/** The counters of a target's live states and outcomes, in the order of `job_counter`. */
export const COUNTER_COLUMNS = [
  'pending',
  'waiting_device',
  'in_flight',
  'verifying',
  'succeeded',
  'no_change',
  'failed',
  'rejected',
  'verify_failed',
  'unknown',
  'expired',
  'cancelled',
  'skipped',
] as const;

export type CounterColumn = (typeof COUNTER_COLUMNS)[number];

export function progressOf(record: CounterRecord): JobProgress {
  const count = (column: CounterColumn) => Number(record[column]);
  return {
    total: record.total ?? COUNTER_COLUMNS.reduce((sum, column) => sum + count(column), 0),
    pending: count('pending'),
    waitingDevice: count('waiting_device'),
    inFlight: count('in_flight'),
    verifying: count('verifying'),
    succeeded: count('succeeded'),
    noChange: count('no_change'),
    failed: count('failed'),
    rejected: count('rejected'),
    verifyFailed: count('verify_failed'),
    unknown: count('unknown'),
    expired: count('expired'),
    cancelled: count('cancelled'),
    skipped: count('skipped'),
  };
}
