/** Reading a job's progress, its targets page by page, and its failures by kind. */
import { z } from 'zod';
import type { JobProgress, TargetOutcome } from '@flotilla/jobs';
import type { DeviceId, JobId } from '@flotilla/mcp';
import { decodeCursor, toPage } from '../../database/cursor.js';
import type { Queryable } from '../../database/database.js';
import { grouped } from '../../database/grouped.js';
import type { FailureGroupRow, JobSight, TargetFilter, TargetRow } from '../job-types.js';
import type { Page, PageRequest } from '../../page.js';
import { targetSightOf } from '../../access-scope/history-scope.js';
import {
  COUNTER_COLUMNS,
  progressOf,
  TARGET_COLUMNS,
  targetOf,
  type CounterRecord,
  type TargetRecord,
} from '../job-rows.js';

/** Devices named as examples of a failure. */
const SAMPLE_DEVICES = 5;

export async function readProgress(db: Queryable, ids: readonly JobId[]): Promise<ReadonlyMap<JobId, JobProgress>> {
  const sums = COUNTER_COLUMNS.map((column) => `coalesce(sum(c.${column}), 0) AS ${column}`).join(', ');
  const rows = await db.query<CounterRecord>(
    {
      text: `SELECT j.id AS job_id, j.total, ${sums} FROM job j LEFT JOIN job_counter c ON c.job_id = j.id WHERE j.id = ANY ($1::uuid[]) GROUP BY j.id`,
    },
    [ids],
  );
  return new Map(rows.map((row) => [row.job_id as JobId, progressOf(row)]));
}

/** A page for each job, in the order of device ids. */
export async function readTargets(
  db: Queryable,
  ids: readonly JobId[],
  { outcomes, deviceIds, sight }: TargetFilter,
  page: PageRequest,
): Promise<readonly Page<TargetRow>[]> {
  const after = decodeCursor('targets', page, z.tuple([z.string()]));
  const parameters: unknown[] = [ids, outcomes ?? null, after?.[0] ?? '', page.first + 1, deviceIds ?? null];
  const isSeen = (await targetSightOf(db, sight))(parameters);
  const records = await db.query<TargetRecord & { readonly job_id: JobId }>(
    {
      text: `SELECT w.job_id, p.* FROM unnest($1::uuid[]) AS w(job_id) CROSS JOIN LATERAL (
          SELECT ${TARGET_COLUMNS}, r.result
          FROM job_target t LEFT JOIN job_result r ON r.job_id = t.job_id AND r.hash = t.result_hash
          WHERE t.job_id = w.job_id AND ($2::outcome[] IS NULL OR t.outcome = ANY ($2::outcome[])) AND t.device_id > $3
            AND ($5::text[] IS NULL OR t.device_id = ANY ($5::text[])) AND ${isSeen}
          ORDER BY t.device_id LIMIT $4) p
        ORDER BY w.job_id, p.device_id`,
    },
    parameters,
  );
  return grouped(ids, records, ({ job_id: id }) => id).map((rows) =>
    toPage(rows, page, 'targets', (record) => [record.device_id], targetOf),
  );
}

interface FailureRecord {
  readonly job_id: JobId;
  readonly outcome: TargetOutcome;
  readonly code: string | null;
  readonly message: string | null;
  readonly model: string | null;
  readonly count: number;
  readonly sample: DeviceId[];
}

export async function readFailureGroups(
  db: Queryable,
  ids: readonly JobId[],
  first: number,
  sight?: JobSight,
): Promise<readonly (readonly FailureGroupRow[])[]> {
  const parameters: unknown[] = [ids, first];
  const isSeen = (await targetSightOf(db, sight))(parameters);
  const records = await db.query<FailureRecord>(
    {
      text: `SELECT w.job_id, g.* FROM unnest($1::uuid[]) AS w(job_id) CROSS JOIN LATERAL (
          SELECT t.outcome, t.error_code AS code, t.error_message AS message, CASE WHEN j.firmware_image_id IS NOT NULL THEN d.model END AS model,
            count(*)::int AS count, (array_agg(t.device_id ORDER BY t.device_id))[1:${SAMPLE_DEVICES}] AS sample
          FROM job j JOIN job_target t ON t.job_id = j.id LEFT JOIN device d ON j.firmware_image_id IS NOT NULL AND d.id = t.device_id
          WHERE j.id = w.job_id AND t.outcome IN ('FAILED', 'REJECTED', 'VERIFY_FAILED', 'UNKNOWN', 'EXPIRED') AND ${isSeen}
          GROUP BY t.outcome, t.error_code, t.error_message, 4 ORDER BY count DESC, outcome, code, message LIMIT $2) g
        ORDER BY w.job_id, count DESC, outcome, code, message`,
    },
    parameters,
  );
  return grouped(ids, records, ({ job_id: id }) => id).map((groups) =>
    groups.map(({ outcome, code, message, model, count, sample }) => ({
      outcome,
      model: model ?? undefined,
      code: code ?? undefined,
      message: message ?? '',
      count,
      sampleDeviceIds: sample,
    })),
  );
}
