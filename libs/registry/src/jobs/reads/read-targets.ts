/** Pages of the targets of jobs. */
import { z } from 'zod';
import type { TargetOutcome, TargetState } from '@flotilla/jobs';
import type { CallError, DeviceId, JobId, ToolResult } from '@flotilla/mcp';
import { toCallError, type ErrorColumns } from '../../calls/call-rows.js';
import { targetScopeOf } from '../../access-scope/history-scope.js';
import { decodeCursor, toPage } from '../../database/cursor.js';
import type { Queryable } from '../../database/database.js';
import { grouped } from '../../database/grouped.js';
import type { Page, PageRequest } from '../../page.js';
import type { JobScope } from '../job-scope.js';

export interface TargetRow {
  readonly deviceId: DeviceId;
  readonly wave: number;
  readonly state: TargetState;
  readonly outcome: TargetOutcome | undefined;
  /** Attempts, without a send repeated because the hub cut the download. */
  readonly attempts: number;
  readonly error: CallError | undefined;
  readonly result: ToolResult | undefined;
  readonly late: boolean;
  readonly decidedAt: number | undefined;
  /** When a target in RETRY_WAIT may be sent again. */
  readonly retryAt: number | undefined;
  /** When a verification ends without success. */
  readonly verifyDeadlineAt: number | undefined;
  /** After this time a target in VERIFYING counts as lost for abort rules. */
  readonly softDeadlineAt: number | undefined;
  /** Firmware before the send. */
  readonly baselineVersion: string | undefined;
}

export interface TargetFilter {
  readonly outcomes?: readonly TargetOutcome[];
  readonly deviceIds?: readonly string[];
  readonly scope?: JobScope;
}

interface TargetRecord extends ErrorColumns {
  readonly job_id: JobId;
  readonly device_id: string;
  readonly wave: number;
  readonly state: TargetState;
  readonly outcome: TargetOutcome | null;
  readonly attempts: number;
  readonly result: ToolResult | null;
  readonly late: boolean;
  readonly decided_at: Date | null;
  readonly retry_at: Date | null;
  readonly verify_deadline_at: Date | null;
  readonly soft_deadline_at: Date | null;
  readonly baseline_version: string | null;
}

/** A page per job, in the order of device ids. */
export async function readTargets(
  db: Queryable,
  ids: readonly JobId[],
  { outcomes, deviceIds, scope }: TargetFilter,
  page: PageRequest,
): Promise<readonly Page<TargetRow>[]> {
  const after = decodeCursor('targets', page, z.tuple([z.string()]));
  const parameters: unknown[] = [
    ids,
    outcomes ? [...new Set(outcomes)] : null,
    after?.[0] ?? '',
    page.first + 1,
    deviceIds ?? null,
  ];
  const isInScope = (await targetScopeOf(db, scope))(parameters);
  const records = await db.query<TargetRecord>(
    {
      text: `SELECT w.job_id, p.* FROM unnest($1::uuid[]) AS w(job_id) CROSS JOIN LATERAL (
          SELECT t.device_id, t.wave, t.state, t.outcome,
            greatest(t.attempts - t.cut_retries, least(t.attempts, 1)) AS attempts, t.error_code, t.error_message,
            t.rpc_code, t.late, t.decided_at, t.retry_at, t.verify_deadline_at, t.soft_deadline_at, t.baseline_version,
            r.result
          FROM job_target t LEFT JOIN job_result r ON r.job_id = t.job_id AND r.hash = t.result_hash
          WHERE t.job_id = w.job_id AND ($2::outcome[] IS NULL OR t.outcome = ANY ($2::outcome[])) AND t.device_id > $3
            AND ($5::text[] IS NULL OR t.device_id = ANY ($5::text[])) AND ${isInScope}
          ORDER BY t.device_id LIMIT $4) p
        ORDER BY w.job_id, p.device_id`,
    },
    parameters,
  );
  return grouped(ids, records, ({ job_id: id }) => id).map((rows) =>
    toPage(rows, page, 'targets', (record) => [record.device_id], targetOf),
  );
}

function targetOf(record: TargetRecord): TargetRow {
  return {
    deviceId: record.device_id as DeviceId,
    wave: record.wave,
    state: record.state,
    outcome: record.outcome ?? undefined,
    attempts: record.attempts,
    error: toCallError(record),
    result: record.result ?? undefined,
    late: record.late,
    decidedAt: record.decided_at?.getTime(),
    retryAt: record.retry_at?.getTime(),
    verifyDeadlineAt: record.verify_deadline_at?.getTime(),
    softDeadlineAt: record.soft_deadline_at?.getTime(),
    baselineVersion: record.baseline_version ?? undefined,
  };
}
