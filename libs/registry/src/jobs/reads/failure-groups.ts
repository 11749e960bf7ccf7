/** The failures of jobs by kind. */
import type { FailureCodeCount, TargetOutcome } from '@flotilla/jobs';
import type { DeviceId, JobId } from '@flotilla/mcp';
import { targetScopeOf } from '../../access-scope/history-scope.js';
import type { Queryable } from '../../database/database.js';
import { grouped } from '../../database/grouped.js';
import type { JobScope } from '../job-scope.js';

export interface FailureGroupRow {
  /** The board of the devices, in a roll-out. */
  readonly model: string | undefined;
  readonly outcome: TargetOutcome;
  readonly code: string | undefined;
  readonly message: string;
  readonly count: number;
  readonly sampleDeviceIds: readonly DeviceId[];
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

/** Devices named per group. */
const SAMPLE_DEVICES = 5;

/** Outcomes that are failures. */
const FAILURES = `('FAILED', 'REJECTED', 'VERIFY_FAILED', 'UNKNOWN', 'EXPIRED')`;

export async function readFailureGroups(
  db: Queryable,
  ids: readonly JobId[],
  first: number,
  scope?: JobScope,
): Promise<readonly (readonly FailureGroupRow[])[]> {
  const parameters: unknown[] = [ids, first];
  const isInScope = (await targetScopeOf(db, scope))(parameters);
  const records = await db.query<FailureRecord>(
    {
      text: `SELECT w.job_id, g.* FROM unnest($1::uuid[]) AS w(job_id) CROSS JOIN LATERAL (
          SELECT t.outcome, t.error_code AS code, t.error_message AS message,
            CASE WHEN j.firmware_image_id IS NOT NULL THEN d.model END AS model, count(*)::int AS count,
            (array_agg(t.device_id ORDER BY t.device_id))[1:${SAMPLE_DEVICES}] AS sample
          FROM job j JOIN job_target t ON t.job_id = j.id
          LEFT JOIN device d ON j.firmware_image_id IS NOT NULL AND d.id = t.device_id
          WHERE j.id = w.job_id AND t.outcome IN ${FAILURES} AND ${isInScope}
          GROUP BY t.outcome, t.error_code, t.error_message, 4
          ORDER BY count DESC, outcome, code, message LIMIT $2) g
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

/**
 * The failures of each job by error code, on devices that still exist, in the order of the input.
 * Most frequent first.
 */
export async function readFailureCodes(
  db: Queryable,
  ids: readonly JobId[],
  scope?: JobScope,
): Promise<readonly (readonly FailureCodeCount[])[]> {
  const parameters: unknown[] = [ids];
  const isInScope = (await targetScopeOf(db, scope))(parameters);
  const records = await db.query<{ readonly job_id: JobId; readonly code: string | null; readonly count: number }>(
    {
      text: `SELECT t.job_id, t.error_code AS code, count(*)::int AS count
        FROM job_target t JOIN device ON device.id = t.device_id
        WHERE t.job_id = ANY ($1::uuid[]) AND t.outcome IN ${FAILURES} AND ${isInScope}
        GROUP BY t.job_id, t.error_code ORDER BY t.job_id, count DESC, code`,
    },
    parameters,
  );
  return grouped(ids, records, ({ job_id: id }) => id).map((codes) =>
    codes.map(({ code, count }) => ({ code: code ?? undefined, count })),
  );
}
