/** Roll-outs of edits by jobs: which there were, and which devices they have reached. */
import type { DeviceId, JobId } from '@flotilla/mcp';
import type { Database, Queryable } from '../../database/database.js';
import type { Prisma } from '../../generated/prisma/client.js';
import type { DesiredStateRow } from '../desired-state.js';

/** A job that rolled out a generation. */
export interface Rollout {
  readonly generation: number;
  readonly jobId: JobId;
}

/** Those of the generations that do not apply to all devices. */
export async function readRollouts(
  database: Database,
  { id, generation: newest, settledGeneration, rolloutJobId }: DesiredStateRow,
): Promise<readonly Rollout[]> {
  if (settledGeneration === newest) return [];
  const where = { desiredStateId: id, generation: { gt: settledGeneration, lte: newest } };
  const edits = await database.ask((prisma) =>
    prisma.desiredStateEdit.findMany({ where, select: { generation: true, rolloutJobIds: true } }),
  );
  const noted = edits.flatMap(({ generation, rolloutJobIds }) =>
    rolloutJobIds.map((jobId) => ({ generation, jobId: jobId as JobId })),
  );
  return rolloutJobId === undefined ? noted : [...noted, { generation: newest, jobId: rolloutJobId as JobId }];
}

/** Edits soon after each other may each stop a job that still calls. */
const ENDING_GENERATIONS_MAX = 5;

/** Jobs that an edit stopped which applies to all devices at once, and that may still call. */
export async function readEndingRollouts(
  db: Queryable,
  states: readonly Pick<DesiredStateRow, 'id' | 'settledGeneration'>[],
): Promise<ReadonlyMap<string, readonly Rollout[]>> {
  if (states.length === 0) return new Map();
  const rows = await db.query<{ readonly id: string; readonly generation: number; readonly job_id: JobId }>(
    {
      name: 'desired-ending-rollouts',
      text: `SELECT s.id, e.generation, j.id AS job_id FROM unnest($1::uuid[], $2::int[]) AS s(id, settled)
        CROSS JOIN LATERAL (
          SELECT e.generation, e.rollout_job_ids FROM desired_state_edit e
          WHERE e.desired_state_id = s.id AND e.generation <= s.settled AND e.rollout_job_ids <> '{}'
          ORDER BY e.generation DESC LIMIT ${ENDING_GENERATIONS_MAX}) e
        JOIN job j ON j.id = ANY (e.rollout_job_ids) AND j.state <> 'FINISHED'`,
    },
    [states.map(({ id }) => id), states.map(({ settledGeneration }) => settledGeneration)],
  );
  const byState = new Map<string, Rollout[]>();
  for (const { id, generation, job_id: jobId } of rows)
    byState.set(id, [...(byState.get(id) ?? []), { generation, jobId }]);
  return byState;
}

interface FormerRollout {
  readonly id: string;
  readonly generation: number;
  readonly rolloutJobId: string | null | undefined;
}

/** Keeps the job that the row had, in the transaction that replaces it. */
export async function noteFormerRollout(
  prisma: Prisma.TransactionClient,
  { id: desiredStateId, generation, rolloutJobId }: FormerRollout,
): Promise<void> {
  if (rolloutJobId === null || rolloutJobId === undefined) return;
  const data = { rolloutJobIds: { push: rolloutJobId } };
  await prisma.desiredStateEdit.updateMany({ where: { desiredStateId, generation }, data });
}

/** Where the roll-out of a new generation stands on a device. */
export type RolloutReach = 'REACHED' | 'UNDER_WAY';

/** Devices that the jobs have called, or are calling; the others are not in the answer. */
export async function readRolloutReach(
  db: Queryable,
  jobIds: readonly JobId[],
  deviceIds: readonly DeviceId[],
): Promise<ReadonlyMap<string, RolloutReach>> {
  const rows = await db.query<{ readonly job_id: JobId; readonly device_id: DeviceId; readonly is_reached: boolean }>(
    {
      name: 'desired-rollout-reach',
      text: `SELECT t.job_id, t.device_id, t.state = 'DECIDED' AS is_reached FROM job_target t
        WHERE t.job_id = ANY ($1::uuid[]) AND t.device_id = ANY ($2::text[])
          AND (t.state IN ('DISPATCHING', 'SENT', 'VERIFYING', 'RETRY_WAIT')
            OR t.outcome IN ('SUCCEEDED', 'NO_CHANGE', 'FAILED', 'VERIFY_FAILED', 'UNKNOWN'))`,
    },
    [jobIds, deviceIds],
  );
  return new Map(
    rows.map(({ job_id: jobId, device_id: deviceId, is_reached: isReached }) => [
      `${jobId} ${deviceId}`,
      isReached ? 'REACHED' : 'UNDER_WAY',
    ]),
  );
}
