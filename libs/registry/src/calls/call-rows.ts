/** Single calls and targets of jobs, read in one form. */
import { maskArguments } from '@flotilla/mcp';
import type { CallError, DeviceId, JobId, ToolResult } from '@flotilla/mcp';
import type { TargetOutcome } from '@flotilla/jobs';
import { timeOfUuid } from '../database/uuid-v7.js';

/** A single call, or a target of a job. */
export interface CallRow {
  readonly id: string;
  readonly deviceId: DeviceId;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Undefined while it runs. */
  readonly outcome: TargetOutcome | 'NOT_SENT' | undefined;
  readonly result: ToolResult | undefined;
  readonly error: CallError | undefined;
  readonly startedAt: number;
  readonly durationMs: number | undefined;
  readonly actor: string;
  readonly jobId: JobId | undefined;
}

export interface CallReadRecord {
  readonly id: string;
  readonly device_id: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly outcome: Exclude<CallRow['outcome'], undefined> | null;
  readonly result: ToolResult | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly rpc_code: number | null;
  /** Null if a crash interrupted the call and it was not sent again. Its duration is unknown. */
  readonly started_at: Date | null;
  readonly duration_ms: number | null;
  readonly actor: string;
  readonly job_id: string | null;
}

/** Columns of a CallReadRecord, from `call c`. */
export const CALL_COLUMNS = `c.id, c.device_id, c.tool, c.arguments, c.outcome, c.result, c.error_code, c.error_message,
  c.rpc_code, c.started_at, c.duration_ms, c.actor, NULL::uuid AS job_id`;

/** The same, from `job_target t JOIN job j LEFT JOIN job_result r`. */
export const TARGET_COLUMNS = `t.call_id AS id, t.device_id, j.tool, j.arguments, t.outcome, r.result, t.error_code,
  t.error_message, t.rpc_code, t.started_at,
  (extract(epoch FROM t.decided_at - t.started_at) * 1000)::float8 AS duration_ms, j.created_by AS actor, t.job_id`;

export const TARGET_TABLES = `job_target t JOIN job j ON j.id = t.job_id
  LEFT JOIN job_result r ON r.job_id = t.job_id AND r.hash = t.result_hash`;

export function toCallRow(record: CallReadRecord): CallRow {
  return {
    id: record.id,
    deviceId: record.device_id as DeviceId,
    tool: record.tool,
    // Rows of older versions contain secrets.
    arguments: maskArguments(record.tool, record.arguments),
    outcome: record.outcome ?? undefined,
    result: record.result ?? undefined,
    error: toCallError(record),
    startedAt: record.started_at?.getTime() ?? timeOfUuid(record.id),
    durationMs: record.duration_ms ?? undefined,
    actor: record.actor,
    jobId: (record.job_id ?? undefined) as JobId | undefined,
  };
}

function toCallError(record: Pick<CallReadRecord, 'error_code' | 'error_message' | 'rpc_code'>): CallError | undefined {
  if (record.error_code === null) return undefined;
  const { error_code: code, error_message: message, rpc_code: rpcCode } = record;
  return { code: code as CallError['code'], message: message ?? '', ...(rpcCode === null ? {} : { rpcCode }) };
}
