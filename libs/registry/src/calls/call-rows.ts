/** Calls as they are read: single calls and targets of jobs, which are their own call records, in one form. */
import { maskArguments } from '@flotilla/mcp';
import type { CallError, DeviceId, JobId, ToolResult } from '@flotilla/mcp';
import { timeOfUuid } from '../database/uuid-v7.js';
import type { CallRow } from './record-types.js';

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
  /** Null where a kill cut the call off and it was not sent again: how long it took is not known. */
  readonly started_at: Date | null;
  readonly duration_ms: number | null;
  readonly actor: string;
  readonly job_id: string | null;
}

/** Columns of a CallReadRecord, from `call c`. */
export const CALL_COLUMNS = `c.id, c.device_id, c.tool, c.arguments, c.outcome, c.result, c.error_code, c.error_message, c.rpc_code, c.started_at,
  c.duration_ms, c.actor, NULL::uuid AS job_id`;

/** The same, from `job_target t JOIN job j LEFT JOIN job_result r`. */
export const TARGET_COLUMNS = `t.call_id AS id, t.device_id, j.tool, j.arguments, t.outcome, r.result, t.error_code, t.error_message, t.rpc_code,
  t.started_at, (extract(epoch FROM t.decided_at - t.started_at) * 1000)::float8 AS duration_ms, j.created_by AS actor,
  t.job_id`;

export const TARGET_TABLES = `job_target t JOIN job j ON j.id = t.job_id LEFT JOIN job_result r ON r.job_id = t.job_id AND r.hash = t.result_hash`;

export function toCallRow(record: CallReadRecord): CallRow {
  return {
    id: record.id,
    deviceId: record.device_id as DeviceId,
    tool: record.tool,
    // Rows from before secrets were masked have them.
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
