/** Reading jobs, also as somebody sees them who is narrowed to some devices: those with one of theirs, and how far their own targets are. */
import { z } from 'zod';
import type { Job, JobProgress, JobState } from '@flotilla/jobs';
import type { JobId } from '@flotilla/mcp';
import { decodeCursor, toPage } from '../../database/cursor.js';
import type { Queryable } from '../../database/database.js';
import { bind, containsPattern } from '../../database/sql-parameters.js';
import { isUuid } from '../../database/uuid-v7.js';
import type { JobSight } from '../job-types.js';
import type { Page, PageRequest } from '../../page.js';
import { targetSightOf } from '../../access-scope/history-scope.js';
import { counterOf } from '../queue/counter-sql.js';
import { COUNTER_COLUMNS, JOB_COLUMNS, jobOf, progressOf, type CounterColumn, type JobRecord } from '../job-rows.js';

export interface JobFilter {
  readonly states?: readonly JobState[];
  readonly tool?: string;
  readonly search?: string;
}

export async function findJob(db: Queryable, id: string, sight?: JobSight): Promise<Job | undefined> {
  if (!isUuid(id)) return undefined;
  const parameters: unknown[] = [id];
  const isSeen = await jobSight(db, sight, parameters);
  const rows = await db.query<JobRecord>(
    { text: `SELECT ${JOB_COLUMNS} FROM job WHERE id = $1 AND ${isSeen}` },
    parameters,
  );
  return rows[0] && jobOf(rows[0]);
}

/** Latest first. */
export async function pageOfJobs(
  db: Queryable,
  { states, tool, search }: JobFilter,
  page: PageRequest,
  sight?: JobSight,
): Promise<Page<Job>> {
  const after = decodeCursor('jobs', page, z.tuple([z.uuid()]));
  const parameters = [
    ...[
      states ?? null,
      tool ?? null,
      search === undefined ? null : containsPattern(search),
      after?.[0] ?? null,
      page.first + 1,
    ],
  ];
  const isSeen = await jobSight(db, sight, parameters);
  const records = await db.query<JobRecord>(
    {
      text: `SELECT ${JOB_COLUMNS} FROM job
        WHERE ($1::job_state[] IS NULL OR state = ANY ($1::job_state[])) AND ($2::text IS NULL OR tool = $2)
          AND ($3::text IS NULL OR lower(coalesce(name, '') || E'\\n' || tool) LIKE $3) AND ($4::uuid IS NULL OR id < $4) AND ${isSeen}
        ORDER BY id DESC LIMIT $5`,
    },
    parameters,
  );
  return toPage(records, page, 'jobs', (record) => [record.id], jobOf);
}

async function jobSight(db: Queryable, sight: JobSight | undefined, parameters: unknown[]): Promise<string> {
  if (sight === undefined) return 'TRUE';
  const isSeen = await targetSightOf(db, sight);
  const isOwn = `job.created_by_id = ${bind(parameters, sight.creator)}`;
  return `(${isOwn} OR EXISTS (SELECT FROM job_target t WHERE t.job_id = job.id AND ${isSeen(parameters)}))`;
}

/** Progress of each wave over the targets that are seen, counted from the rows. In the order of the input. */
export async function countWaveProgress(
  db: Queryable,
  ids: readonly JobId[],
  sight: JobSight,
): Promise<readonly ReadonlyMap<number, JobProgress>[]> {
  const parameters: unknown[] = [ids];
  const isSeen = (await targetSightOf(db, sight))(parameters);
  const rows = await db.query<{
    readonly job_id: JobId;
    readonly wave: number;
    readonly counter: CounterColumn;
    readonly count: number;
  }>(
    {
      text: `SELECT t.job_id, t.wave, ${counterOf('t.state', 't.outcome')} AS counter, count(*)::int AS count FROM job_target t
        WHERE t.job_id = ANY ($1::uuid[]) AND ${isSeen} GROUP BY 1, 2, 3 ORDER BY 1, 2`,
    },
    parameters,
  );
  const none = Object.fromEntries(COUNTER_COLUMNS.map((column) => [column, 0])) as Record<CounterColumn, number>;
  const byJob = new Map(ids.map((id) => [id, new Map<number, Record<CounterColumn, number>>()]));
  for (const { job_id: id, wave, counter, count } of rows) {
    const waves = byJob.get(id);
    waves?.set(wave, { ...(waves.get(wave) ?? none), [counter]: count });
  }
  return ids.map((id) => {
    const waves = byJob.get(id) ?? new Map<number, Record<CounterColumn, number>>();
    return new Map([...waves].map(([wave, counts]) => [wave, progressOf({ ...counts, job_id: id, total: null })]));
  });
}

/** A device that is gone may have been somebody else's. */
export async function hasTargetsBeyond(
  db: Queryable,
  { id, createdById }: Pick<Job, 'id' | 'createdById'>,
  sight?: JobSight,
): Promise<boolean> {
  if (sight === undefined || createdById === sight.creator) return false;
  const parameters: unknown[] = [id];
  const isSeen = (await targetSightOf(db, sight))(parameters);
  const [row] = await db.query<{ readonly is_beyond: boolean }>(
    {
      text: `SELECT j.total IS NULL OR EXISTS (SELECT FROM job_target t WHERE t.job_id = j.id AND NOT ${isSeen}) AS is_beyond
        FROM job j WHERE j.id = $1`,
    },
    parameters,
  );
  return row?.is_beyond ?? true;
}
