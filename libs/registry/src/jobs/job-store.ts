/** Jobs in PostgreSQL. Ordinary rows are read and moved here; what moves targets in bulk stands in the files beside it. */
import type { Job, JobProgress, PlannedWave, VerificationDeadlines, Wave } from '@flotilla/jobs';
import type { CallError, CallId, DeviceId, HubProcessId, JobId, ToolSetHash } from '@flotilla/mcp';
import { audited } from '../audit/append-audit.js';
import type { AuditSource } from '../audit/audit-entry.js';
import type { Database } from '../database/database.js';
import type { DeviceFilter } from '../device-filter.js';
import type {
  ClaimedTarget,
  EarlierJob,
  DecidedPoint,
  FailureGroupRow,
  JobFence,
  JobMove,
  JobSight,
  JobStore,
  CorrectedTarget,
  LateAnswer,
  LateTarget,
  MissingImage,
  NewJob,
  ReadbackTarget,
  TargetFilter,
  TargetFlush,
  TargetRow,
  ToolSetCount,
  ToolSetVerdict,
  VerificationEnd,
  VerificationLook,
} from './job-types.js';
import type { Page, PageRequest } from '../page.js';
import { claimTargets } from './queue/claim-targets.js';
import { readDecidedOverTime } from './reads/decided-over-time.js';
import { endInFlight, endNeverSent, recoverTargets } from './queue/end-targets.js';
import { flushTargets, markSent } from './queue/flush-targets.js';
import { countTargets, freezeTargets } from './preparation/freeze-targets.js';
import { holdImages, insertJobs } from './commands/insert-job.js';
import { jobCreated, jobMoved } from './commands/job-audit.js';
import { JOB_COLUMNS, jobOf, type JobRecord } from './job-rows.js';
import { correctUnknown, findLateTargets } from './queue/late-answers.js';
import { moveJob } from './commands/move-job.js';
import { countByToolSet, countDevices, prepareChunk, toolSetsOf } from './preparation/prepare-targets.js';
import { countWaveProgress, findJob, hasTargetsBeyond, pageOfJobs, type JobFilter } from './reads/scoped-jobs.js';
import { readFailureGroups, readProgress, readTargets } from './reads/read-targets.js';
import { reconcileCounters } from './queue/reconcile-counters.js';
import { readEvidence, readOverdue } from './verification/verify-evidence.js';
import { claimReadbacks, extendVerifying, settleVerifications } from './verification/verify-targets.js';
import { releaseRetries, wakeAll, wakeNamed } from './queue/wake-targets.js';
import { ArgumentSeal } from '../secrets/argument-seal.js';
import { readArguments } from './reads/read-arguments.js';
import { SeenProgress } from './reads/scoped-progress.js';
import { lastDecidedAt, openTargets, openWave, readWaveProgress, readWaves } from './preparation/wave-statements.js';

/** Waiting targets that one wake-up releases at most: a returning fleet comes in portions. */
const WAKE_TARGETS_MAX = 5_000;

/** Who a transition is on behalf of where nobody asked for it. */
const HUB: AuditSource = { actor: 'hub' };

export class PgJobStore implements JobStore {
  readonly #seenProgress: SeenProgress;

  /** Without `seal` the secrets of a job can be read by this store alone. */
  constructor(
    private readonly db: Database,
    private readonly seal = new ArgumentSeal(),
  ) {
    this.#seenProgress = new SeenProgress({
      whole: (ids) => readWaveProgress(db, ids),
      counted: (ids, sight) => countWaveProgress(db, ids, sight),
      now: () => performance.now(),
    });
  }

  async create(
    job: NewJob,
    by: AuditSource = { actor: job.createdBy },
  ): Promise<{ readonly kind: 'created'; readonly job: Job } | EarlierJob | MissingImage> {
    const created = await this.createAll([job], by);
    if (created.kind !== 'created') return created;
    const [made] = created.jobs;
    return made === undefined ? { kind: 'conflict' } : { kind: 'created', job: made };
  }

  async createAll(
    jobs: readonly NewJob[],
    by: AuditSource,
  ): Promise<{ readonly kind: 'created'; readonly jobs: readonly Job[] } | EarlierJob | MissingImage> {
    const inserted = await audited(
      this.db,
      by,
      async (transaction) =>
        (await holdImages(transaction, jobs)) ? insertJobs(transaction, jobs, this.seal) : undefined,
      (records) => (records === undefined || records.length === 0 ? [] : jobs.map(jobCreated)),
    );
    if (inserted === undefined) return { kind: 'image_missing' };
    const [first] = jobs;
    if (inserted.length === 0 && first !== undefined) return (await this.earlier(first)) ?? { kind: 'conflict' };
    return { kind: 'created', jobs: inserted.map(jobOf) };
  }

  async earlier(job: Pick<NewJob, 'createdById' | 'idempotencyKey' | 'requestHash'>): Promise<EarlierJob | undefined> {
    const rows = await this.db.query<JobRecord>(
      { text: `SELECT ${JOB_COLUMNS} FROM job WHERE created_by_id = $1 AND idempotency_key = $2` },
      [job.createdById, job.idempotencyKey],
    );
    const [former] = rows;
    if (former === undefined) return undefined;
    return this.seal.isHashOf(former.request_hash, job.requestHash)
      ? { kind: 'repeat', job: jobOf(former) }
      : { kind: 'conflict' };
  }

  find(id: string, sight?: JobSight): Promise<Job | undefined> {
    return findJob(this.db, id, sight);
  }

  argumentsOf(id: JobId): ReturnType<JobStore['argumentsOf']> {
    return readArguments(this.db, this.seal, id);
  }

  page(filter: JobFilter, page: PageRequest, sight?: JobSight): Promise<Page<Job>> {
    return pageOfJobs(this.db, filter, page, sight);
  }

  hasTargetsBeyond(job: Pick<Job, 'id' | 'createdById'>, sight?: JobSight): Promise<boolean> {
    return hasTargetsBeyond(this.db, job, sight);
  }

  async liveCount(): Promise<number> {
    const rows = await this.db.query<{ count: number }>(
      { text: `SELECT count(*)::int AS count FROM job WHERE state <> 'FINISHED'` },
      [],
    );
    return rows[0]?.count ?? 0;
  }

  async transition(job: Pick<Job, 'id' | 'version'>, to: JobMove, at: number, by = HUB): Promise<Job | undefined> {
    const moved = await audited(
      this.db,
      by,
      (transaction) => moveJob(transaction, job, to, at),
      (change) => (change === undefined ? [] : [jobMoved(change.from, change.job, to.reason, at)]),
    );
    return moved?.job;
  }

  async takeOwnership(id: JobId, owner: HubProcessId): Promise<JobFence | undefined> {
    const rows = await this.db.query<{ fence: number }>(
      {
        text: `UPDATE job SET owner_id = $2, fence = fence + 1
       WHERE id = $1 AND state <> 'FINISHED'
         AND (owner_id IS NULL OR owner_id = $2 OR NOT EXISTS (SELECT FROM hub_process p WHERE p.id = job.owner_id AND p.lease_until > now()))
       RETURNING fence`,
      },
      [id, owner],
    );
    return rows[0] && { jobId: id, fence: rows[0].fence };
  }

  async liveJobs(): Promise<
    readonly { readonly id: JobId; readonly ownerIsAlive: boolean; readonly owner: HubProcessId | undefined }[]
  > {
    const rows = await this.db.query<{ id: JobId; owner_id: HubProcessId | null; alive: boolean }>(
      {
        text: `SELECT j.id, j.owner_id, (p.lease_until > now()) IS TRUE AS alive FROM job j LEFT JOIN hub_process p ON p.id = j.owner_id
       WHERE j.state <> 'FINISHED' ORDER BY j.id`,
      },
      [],
    );
    return rows.map((row) => ({ id: row.id, ownerIsAlive: row.alive, owner: row.owner_id ?? undefined }));
  }

  progress(ids: readonly JobId[]): Promise<ReadonlyMap<JobId, JobProgress>> {
    return readProgress(this.db, ids);
  }

  targets(ids: readonly JobId[], filter: TargetFilter, page: PageRequest): Promise<readonly Page<TargetRow>[]> {
    return readTargets(this.db, ids, filter, page);
  }

  failureGroups(
    ids: readonly JobId[],
    first: number,
    sight?: JobSight,
  ): Promise<readonly (readonly FailureGroupRow[])[]> {
    return readFailureGroups(this.db, ids, first, sight);
  }

  decidedOverTime(
    ids: readonly JobId[],
    points: number,
    sight?: JobSight,
  ): Promise<readonly (readonly DecidedPoint[])[]> {
    return readDecidedOverTime(this.db, ids, points, sight);
  }

  countByToolSet(devices: DeviceFilter): Promise<readonly ToolSetCount[]> {
    return countByToolSet(this.db, devices);
  }

  countDevices(devices: DeviceFilter, max: number): Promise<number> {
    return countDevices(this.db, devices, max);
  }

  toolSetsOf(fence: JobFence): Promise<readonly ToolSetHash[]> {
    return toolSetsOf(this.db, fence);
  }

  prepareChunk(
    fence: JobFence,
    verdicts: readonly ToolSetVerdict[],
    limit: number,
    at: number,
  ): Promise<number | undefined> {
    return prepareChunk(this.db, fence, verdicts, limit, at);
  }

  countTargets(fence: JobFence): Promise<number> {
    return countTargets(this.db, fence);
  }

  freeze(fence: JobFence, waves: readonly PlannedWave[]): Promise<number> {
    return freezeTargets(this.db, fence, waves);
  }

  waves(ids: readonly JobId[]): Promise<readonly (readonly Wave[])[]> {
    return readWaves(this.db, ids);
  }

  waveProgress(ids: readonly JobId[], sight?: JobSight): Promise<readonly ReadonlyMap<number, JobProgress>[]> {
    return sight === undefined ? readWaveProgress(this.db, ids) : this.#seenProgress.of(ids, sight);
  }

  openWave(fence: JobFence, from: number, at: number): Promise<boolean> {
    return openWave(this.db, fence, from, at);
  }

  openTargets(fence: JobFence, limit: number, at: number): Promise<number> {
    return openTargets(this.db, fence, limit, at);
  }

  lastDecidedAt(fence: JobFence, wave: number): Promise<number | undefined> {
    return lastDecidedAt(this.db, fence, wave);
  }

  claim(fence: JobFence, limit: number, at: number, isDisruptive = false): Promise<readonly ClaimedTarget[]> {
    return claimTargets(this.db, fence, limit, at, isDisruptive);
  }

  flush(fence: JobFence, flushes: readonly TargetFlush[]): Promise<number> {
    return flushTargets(this.db, fence, flushes);
  }

  markSent(fence: JobFence, deviceIds: readonly DeviceId[]): Promise<void> {
    return markSent(this.db, fence, deviceIds);
  }

  wakeWaiting(fence: JobFence, deviceIds?: readonly DeviceId[]): Promise<number> {
    return deviceIds === undefined
      ? wakeAll(this.db, fence, WAKE_TARGETS_MAX)
      : wakeNamed(this.db, fence, deviceIds, WAKE_TARGETS_MAX);
  }

  releaseRetries(
    fence: JobFence,
    at: number,
  ): Promise<{ readonly released: number; readonly nextAt: number | undefined }> {
    return releaseRetries(this.db, fence, WAKE_TARGETS_MAX, at);
  }

  recover(fence: JobFence, at: number, times: VerificationDeadlines): ReturnType<JobStore['recover']> {
    return recoverTargets(this.db, fence, at, times);
  }

  verifying(fence: JobFence, at: number, callId?: CallId): Promise<VerificationLook> {
    return readEvidence(this.db, fence, at, callId);
  }

  settleVerifications(fence: JobFence, ends: readonly VerificationEnd[], at: number): Promise<readonly DeviceId[]> {
    return settleVerifications(this.db, fence, ends, at);
  }

  claimReadbacks(
    fence: JobFence,
    limit: number,
    due: { readonly at: number; readonly againAt: number },
  ): Promise<readonly ReadbackTarget[]> {
    return claimReadbacks(this.db, fence, limit, due);
  }

  extendVerifying(fence: JobFence, until: number): Promise<void> {
    return extendVerifying(this.db, fence, until);
  }

  overdue(id: JobId, at: number, overdueMs: number): Promise<ReadonlyMap<number, number>> {
    return readOverdue(this.db, id, at, overdueMs);
  }

  endNeverSent(fence: JobFence, outcome: 'CANCELLED' | 'EXPIRED', at: number): ReturnType<JobStore['endNeverSent']> {
    return endNeverSent(this.db, fence, outcome, at);
  }

  endInFlight(fence: JobFence, error: CallError, at: number): ReturnType<JobStore['endInFlight']> {
    return endInFlight(this.db, fence, error, at);
  }

  lateTargets(callIds: readonly CallId[]): Promise<readonly LateTarget[]> {
    return findLateTargets(this.db, callIds);
  }

  correctUnknown(answers: readonly LateAnswer[]): Promise<readonly CorrectedTarget[]> {
    return correctUnknown(this.db, answers);
  }

  reconcile(id: JobId): Promise<number> {
    return reconcileCounters(this.db, id);
  }
}
