/** Single calls and targets of jobs, read in one form. */
import { maskArguments } from '@flotilla/mcp';
import type { CallError, DeviceId, JobId, ToolResult } from '@flotilla/mcp';
import type { TargetOutcome } from '@flotilla/jobs';
import { sql, type RowOf } from '../database/sql-file.js';
import { timeOfUuid } from '../database/uuid-v7.js';

const { float, integer, jsonb, named, orNull, text, timestamp, uuid } = sql;

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

/** The columns of a record, with their types. */
export const CALL_ROW = {
  id: uuid(),
  device_id: text(),
  tool: text(),
  arguments: jsonb<CallRow['arguments']>(),
  outcome: orNull(named<Exclude<CallRow['outcome'], undefined>>('outcome')),
  result: orNull(jsonb<ToolResult>()),
  error_code: orNull(text()),
  error_message: orNull(text()),
  rpc_code: orNull(integer),
  /** Null if a crash interrupted the call and it was not sent again. Its duration is unknown. */
  started_at: orNull(timestamp),
  duration_ms: orNull(float),
  actor: text(),
  job_id: orNull(uuid()),
};

export type CallReadRecord = RowOf<{ readonly declaration: { readonly row: typeof CALL_ROW } }>;

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

/** An error as the rows of calls and of targets have it. */
export interface ErrorColumns {
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly rpc_code: number | null;
}

export function toCallError(columns: ErrorColumns): CallError | undefined {
  const { error_code: code, error_message: message, rpc_code: rpcCode } = columns;
  if (code === null) return undefined;
  return { code: code as CallError['code'], message: message ?? '', ...(rpcCode === null ? {} : { rpcCode }) };
}
