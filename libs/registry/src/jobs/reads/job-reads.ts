/**
 * Reads jobs and their targets, optionally within the access scope of a viewer. Secrets in the
 * arguments are masked.
 */
import { z } from 'zod';
import type { FailureCodeCount, Job, JobConclusion, JobProgress, JobState, Wave } from '@flotilla/jobs';
import type { JobId } from '@flotilla/mcp';
import { targetScopeOf } from '../../access-scope/history-scope.js';
import { decodeCursor, toPage } from '../../database/cursor.js';
import type { Queryable } from '../../database/database.js';
import { grouped } from '../../database/grouped.js';
import { bind, bindDistinct, containsPattern } from '../../database/sql-parameters.js';
import { isUuid } from '../../database/uuid-v7.js';
import type { Page, PageRequest } from '../../page.js';
import { COUNTER_COLUMNS, JOB_COLUMNS, jobOf, progressOf, type CounterRecord, type JobRecord } from '../job-rows.js';
import type { JobScope } from '../job-scope.js';
import { readDecidedOverTime, type DecidedPoint } from './decided-over-time.js';
import { readFailureCodes, readFailureGroups, type FailureGroupRow } from './failure-groups.js';
import { countWaveProgress } from './scoped-wave-progress.js';
import { ScopedProgress } from './scoped-progress.js';
import { readTargets, type TargetFilter, type TargetRow } from './read-targets.js';

export interface JobFilter {
  readonly states?: readonly JobState[];
  /** Without jobs that are paused for one of these reasons. */
  readonly exceptPauseReasons?: readonly string[];
  readonly tool?: string;
  readonly search?: string;
  readonly conclusions?: readonly JobConclusion[];
  /** Only jobs that finished later, ms since the Unix epoch. */
  readonly finishedAfter?: number;
  /** Only jobs of this schedule. */
  readonly recurringJobId?: string;
}

interface WaveRecord {
  readonly job_id: JobId;
  readonly number: number;
  readonly size: number;
  readonly gate: Wave['gate'];
  readonly success_threshold: number;
  readonly soak_seconds: number;
  readonly opened_at: Date | null;
  readonly closed_at: Date | null;
  readonly approved_by: string | null;
}

export class JobReads {
  readonly #scopedProgress: ScopedProgress;

  constructor(private readonly db: Queryable) {
    this.#scopedProgress = new ScopedProgress({
      whole: (ids) => this.waveProgress(ids),
      counted: (ids, scope) => countWaveProgress(db, ids, scope),
      now: () => performance.now(),
    });
  }

  async find(id: string, scope?: JobScope): Promise<Job | undefined> {
    if (!isUuid(id)) return undefined;
    const parameters: unknown[] = [id];
    const isVisible = await this.#jobCondition(scope, parameters);
    const [row] = await this.db.query<JobRecord>(
      { text: `SELECT ${JOB_COLUMNS} FROM job WHERE id = $1 AND ${isVisible}` },
      parameters,
    );
    return row && jobOf(row);
  }

  /** Latest first. */
  async page(filter: JobFilter, page: PageRequest, scope?: JobScope): Promise<Page<Job>> {
    const after = decodeCursor('jobs', page, z.tuple([z.uuid()]));
    const parameters: unknown[] = [after?.[0] ?? null, page.first + 1];
    const conditions = [...conditionsOf(filter, parameters), await this.#jobCondition(scope, parameters)];
    const records = await this.db.query<JobRecord>(
      {
        text: `SELECT ${JOB_COLUMNS} FROM job WHERE ($1::uuid IS NULL OR id < $1) AND ${conditions.join(' AND ')}
               ORDER BY id DESC LIMIT $2`,
      },
      parameters,
    );
    return toPage(records, page, 'jobs', (record) => [record.id], jobOf);
  }

  async count(filter: JobFilter, scope?: JobScope): Promise<number> {
    const parameters: unknown[] = [];
    const conditions = [...conditionsOf(filter, parameters), await this.#jobCondition(scope, parameters)];
    const [row] = await this.db.query<{ count: number }>(
      { text: `SELECT count(*)::int AS count FROM job WHERE ${conditions.join(' AND ')}` },
      parameters,
    );
    return row?.count ?? 0;
  }

  /** The number of jobs that are not finished. */
  async liveCount(): Promise<number> {
    const [row] = await this.db.query<{ count: number }>(
      { text: `SELECT count(*)::int AS count FROM job WHERE state <> 'FINISHED'` },
      [],
    );
    return row?.count ?? 0;
  }

  /** Whether the tool of the job is user-only on a device that its approval covers. */
  async reservesTool(id: JobId): Promise<boolean> {
    const [row] = await this.db.query<{ reserves: boolean }>(
      {
        text: `SELECT EXISTS (
          SELECT FROM job j JOIN job_approval_target a ON a.job_id = j.id JOIN device d ON d.id = a.device_id
          JOIN tool t ON t.tool_set_hash = d.tool_set_hash AND t.name = j.tool
          WHERE j.id = $1 AND t.user_only) AS reserves`,
      },
      [id],
    );
    return row?.reserves === true;
  }

  async progress(ids: readonly JobId[]): Promise<ReadonlyMap<JobId, JobProgress>> {
    const sums = COUNTER_COLUMNS.map((column) => `coalesce(sum(c.${column}), 0) AS ${column}`).join(', ');
    const rows = await this.db.query<CounterRecord>(
      {
        text: `SELECT j.id AS job_id, j.total, ${sums} FROM job j LEFT JOIN job_counter c ON c.job_id = j.id
               WHERE j.id = ANY ($1::uuid[]) GROUP BY j.id`,
      },
      [ids],
    );
    return new Map(rows.map((row) => [row.job_id as JobId, progressOf(row)]));
  }

  /** The waves of each job by number, in the order of the input. Empty for a job without waves. */
  async waves(ids: readonly JobId[]): Promise<readonly (readonly Wave[])[]> {
    const records = await this.db.query<WaveRecord>(
      {
        text: `SELECT job_id, number, size, gate, success_threshold, soak_seconds, opened_at, closed_at, approved_by
               FROM job_wave WHERE job_id = ANY ($1::uuid[]) ORDER BY job_id, number`,
      },
      [ids],
    );
    return grouped(ids, records, ({ job_id: id }) => id).map((waves) => waves.map(waveOf));
  }

  /**
   * The progress by wave number, in the order of the input. A job without waves has all targets in
   * wave 1.
   */
  async waveProgress(ids: readonly JobId[], scope?: JobScope): Promise<readonly ReadonlyMap<number, JobProgress>[]> {
    if (scope !== undefined) return this.#scopedProgress.of(ids, scope);
    const sums = COUNTER_COLUMNS.map((column) => `sum(${column}) AS ${column}`).join(', ');
    const records = await this.db.query<CounterRecord & { readonly wave: number }>(
      {
        text: `SELECT job_id, wave, NULL AS total, ${sums} FROM job_counter
               WHERE job_id = ANY ($1::uuid[]) GROUP BY job_id, wave ORDER BY job_id, wave`,
      },
      [ids],
    );
    return grouped(ids, records, ({ job_id: id }) => id as JobId).map(
      (waves) => new Map(waves.map((record) => [record.wave, progressOf(record)])),
    );
  }

  /** A page of the targets of each job by device id, in the order of the input. */
  targets(ids: readonly JobId[], filter: TargetFilter, page: PageRequest): Promise<readonly Page<TargetRow>[]> {
    return readTargets(this.db, ids, filter, page);
  }

  /** The failures of each job by kind, most frequent first, in the order of the input. */
  failureGroups(
    ids: readonly JobId[],
    first: number,
    scope?: JobScope,
  ): Promise<readonly (readonly FailureGroupRow[])[]> {
    return readFailureGroups(this.db, ids, first, scope);
  }

  /**
   * The failures of each job by error code, on devices that still exist, in the order of the input.
   */
  failureCodes(ids: readonly JobId[], scope?: JobScope): Promise<readonly (readonly FailureCodeCount[])[]> {
    return readFailureCodes(this.db, ids, scope);
  }

  /**
   * The number of targets per outcome at up to `points` moments of equal distance, per job, in the
   * order of the input. Reads all targets of the jobs.
   */
  decidedOverTime(
    ids: readonly JobId[],
    points: number,
    scope?: JobScope,
  ): Promise<readonly (readonly DecidedPoint[])[]> {
    return readDecidedOverTime(this.db, ids, points, scope);
  }

  /**
   * Per job, in the order of the input: whether steering it would affect devices outside of the
   * scope. Then a target is outside, or not counted yet. A removed device counts as outside.
   */
  async haveTargetsOutside(
    jobs: readonly Pick<Job, 'id' | 'createdById'>[],
    scope?: JobScope,
  ): Promise<readonly boolean[]> {
    const others = jobs.filter(({ createdById }) => scope !== undefined && createdById !== scope.creator);
    if (others.length === 0) return jobs.map(() => false);
    const parameters: unknown[] = [others.map(({ id }) => id)];
    const isInScope = (await targetScopeOf(this.db, scope))(parameters);
    const within = await this.db.query<{ readonly id: string }>(
      {
        text: `SELECT j.id FROM job j WHERE j.id = ANY ($1::uuid[]) AND j.total IS NOT NULL
          AND NOT EXISTS (SELECT FROM job_target t WHERE t.job_id = j.id AND NOT ${isInScope})`,
      },
      parameters,
    );
    const ids = new Set(within.map(({ id }) => id));
    return jobs.map((job) => others.includes(job) && !ids.has(job.id));
  }

  async #jobCondition(scope: JobScope | undefined, parameters: unknown[]): Promise<string> {
    if (scope === undefined) return 'TRUE';
    const isInScope = await targetScopeOf(this.db, scope);
    const isOwn = `job.created_by_id = ${bind(parameters, scope.creator)}`;
    return `(${isOwn} OR EXISTS (SELECT FROM job_target t WHERE t.job_id = job.id AND ${isInScope(parameters)}))`;
  }
}

function conditionsOf(
  { states, exceptPauseReasons, tool, search, conclusions, finishedAfter, recurringJobId }: JobFilter,
  parameters: unknown[],
): readonly string[] {
  const conditions: string[] = [];
  const add = (value: unknown, condition: (parameter: string) => string) => {
    if (value !== undefined)
      conditions.push(condition(Array.isArray(value) ? bindDistinct(parameters, value) : bind(parameters, value)));
  };
  add(states, (values) => `state = ANY (${values}::job_state[])`);
  add(exceptPauseReasons, (values) => `NOT (state = 'PAUSED' AND pause_reason::text = ANY (${values}::text[]))`);
  add(tool, (value) => `tool = ${value}::text`);
  const pattern = search === undefined ? undefined : containsPattern(search);
  add(pattern, (value) => `lower(coalesce(name, '') || E'\\n' || tool) LIKE lower(${value}::text)`);
  // A cancelled job has its conclusion before its last calls have ended.
  add(conclusions, (values) => `state = 'FINISHED' AND conclusion = ANY (${values}::job_conclusion[])`);
  const earliest = finishedAfter === undefined ? undefined : new Date(finishedAfter);
  add(earliest, (value) => `finished_at > ${value}::timestamptz`);
  add(recurringJobId, (value) => `recurring_job_id = ${value}::uuid`);
  return conditions;
}

function waveOf(record: WaveRecord): Wave {
  return {
    number: record.number,
    size: record.size,
    gate: record.gate,
    successThreshold: record.success_threshold,
    soakSeconds: record.soak_seconds,
    openedAt: record.opened_at?.getTime(),
    closedAt: record.closed_at?.getTime(),
    approvedBy: record.approved_by ?? undefined,
  };
}
