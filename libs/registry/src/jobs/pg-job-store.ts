/** Jobs in PostgreSQL. Ordinary rows are read and moved here; what moves targets in bulk stands in the files beside it. */
import { z } from 'zod';
import type { Job, JobProgress, JobState, TargetOutcome, VerificationDeadlines } from '@flotilla/jobs';
import type { CallError, CallId, DeviceId, HubProcessId, JobId, ToolSetHash } from '@flotilla/mcp';
import { audited } from '../audit/append-audit.js';
import type { AuditSource } from '../audit-store.js';
import { decodeCursor, toPage } from '../database/cursor.js';
import type { Database, Queryable } from '../database/database.js';
import { containsPattern } from '../database/sql-parameters.js';
import type { DeviceFilter } from '../device-filter.js';
import type {
  ClaimedTarget,
  EarlierJob,
  FailureGroupRow,
  JobFence,
  JobMove,
  JobStore,
  NewJob,
  ReadbackTarget,
  TargetFlush,
  TargetRow,
  ToolSetVerdict,
  VerificationEnd,
  VerificationLook,
} from '../job-store.js';
import type { Page, PageRequest } from '../page.js';
import { claimTargets, wakeWaiting } from './claim-targets.js';
import { endInFlight, endNeverSent, recoverTargets } from './end-targets.js';
import { flushTargets, markSent } from './flush-targets.js';
import { insertJob } from './insert-job.js';
import { jobCreated, jobMoved } from './job-audit.js';
import { JOB_COLUMNS, jobOf, type JobRecord } from './job-rows.js';
import { countDevices, freezeTotal, prepareChunk, toolSetsOf } from './prepare-targets.js';
import { readEvidence, readOverdue } from './verify-evidence.js';
import { claimReadbacks, extendVerifying, settleVerifications } from './verify-targets.js';
import { readFailureGroups, readProgress, readTargets, reconcileCounters } from './read-targets.js';

/** Waiting targets that one wake-up releases at most: a returning fleet comes in portions. */
const WAKE_TARGETS_MAX = 5_000;

/** Who a transition is on behalf of where nobody asked for it. */
const HUB: AuditSource = { actor: 'hub' };

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export class PgJobStore implements JobStore {
  constructor(private readonly db: Database) {}

  async create(
    job: NewJob,
    by: AuditSource = { actor: job.createdBy },
  ): Promise<{ readonly kind: 'created'; readonly job: Job } | EarlierJob> {
    const inserted = await audited(
      this.db,
      by,
      (transaction) => insertJob(transaction, job),
      (record) => (record === undefined ? [] : [jobCreated(job)]),
    );
    return inserted ? { kind: 'created', job: jobOf(inserted) } : ((await this.earlier(job)) ?? { kind: 'conflict' });
  }

  async earlier(job: Pick<NewJob, 'createdBy' | 'idempotencyKey' | 'requestHash'>): Promise<EarlierJob | undefined> {
    const rows = await this.db.query<JobRecord>({ text: `SELECT ${JOB_COLUMNS} FROM job WHERE created_by = $1 AND idempotency_key = $2` }, [
      job.createdBy,
      job.idempotencyKey,
    ]);
    const [former] = rows;
    if (former === undefined) return undefined;
    return former.request_hash === job.requestHash ? { kind: 'repeat', job: jobOf(former) } : { kind: 'conflict' };
  }

  async find(id: string): Promise<Job | undefined> {
    if (!UUID.test(id)) return undefined;
    const rows = await this.db.query<JobRecord>({ text: `SELECT ${JOB_COLUMNS} FROM job WHERE id = $1` }, [id]);
    return rows[0] && jobOf(rows[0]);
  }

  /** Latest first. */
  async page(
    { states, tool, search }: { readonly states?: readonly JobState[]; readonly tool?: string; readonly search?: string },
    page: PageRequest,
  ): Promise<Page<Job>> {
    const after = decodeCursor('jobs', page, z.tuple([z.uuid()]));
    const records = await this.db.query<JobRecord>(
      {
        text: `SELECT ${JOB_COLUMNS} FROM job
          WHERE ($1::job_state[] IS NULL OR state = ANY ($1::job_state[])) AND ($2::text IS NULL OR tool = $2)
            AND ($3::text IS NULL OR lower(coalesce(name, '') || E'\\n' || tool) LIKE $3) AND ($4::uuid IS NULL OR id < $4)
          ORDER BY id DESC LIMIT $5`,
      },
      [states ?? null, tool ?? null, search === undefined ? null : containsPattern(search), after?.[0] ?? null, page.first + 1],
    );
    return toPage(records, page, 'jobs', (record) => [record.id], jobOf);
  }

  async liveCount(): Promise<number> {
    const rows = await this.db.query<{ count: number }>({ text: `SELECT count(*)::int AS count FROM job WHERE state <> 'FINISHED'` }, []);
    return rows[0]?.count ?? 0;
  }

  async transition(job: Pick<Job, 'id' | 'version'>, to: JobMove, at: number, by = HUB): Promise<Job | undefined> {
    const moved = await audited(
      this.db,
      by,
      (transaction) => moveJob(transaction, job, to, at),
      (change) => (change === undefined ? [] : [jobMoved(change.from, change.job, at)]),
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

  async liveJobs(): Promise<readonly { readonly id: JobId; readonly ownerIsAlive: boolean; readonly owner: HubProcessId | undefined }[]> {
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

  targets(
    ids: readonly JobId[],
    filter: { readonly outcomes?: readonly TargetOutcome[] },
    page: PageRequest,
  ): Promise<readonly Page<TargetRow>[]> {
    return readTargets(this.db, ids, filter, page);
  }

  failureGroups(ids: readonly JobId[], first: number): Promise<readonly (readonly FailureGroupRow[])[]> {
    return readFailureGroups(this.db, ids, first);
  }

  countDevices(devices: DeviceFilter, max: number): Promise<number> {
    return countDevices(this.db, devices, max);
  }

  toolSetsOf(fence: JobFence): Promise<readonly ToolSetHash[]> {
    return toolSetsOf(this.db, fence);
  }

  prepareChunk(fence: JobFence, verdicts: readonly ToolSetVerdict[], limit: number, at: number): Promise<number | undefined> {
    return prepareChunk(this.db, fence, verdicts, limit, at);
  }

  freeze(fence: JobFence): Promise<number> {
    return freezeTotal(this.db, fence);
  }

  claim(fence: JobFence, limit: number, at: number): Promise<readonly ClaimedTarget[]> {
    return claimTargets(this.db, fence, limit, at);
  }

  flush(fence: JobFence, flushes: readonly TargetFlush[]): Promise<number> {
    return flushTargets(this.db, fence, flushes);
  }

  markSent(fence: JobFence, deviceIds: readonly DeviceId[]): Promise<void> {
    return markSent(this.db, fence, deviceIds);
  }

  wakeWaiting(fence: JobFence, deviceIds?: readonly DeviceId[]): Promise<number> {
    return wakeWaiting(this.db, fence, deviceIds, WAKE_TARGETS_MAX);
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

  endNeverSent(fence: JobFence, outcome: 'CANCELLED' | 'EXPIRED', at: number): Promise<number> {
    return endNeverSent(this.db, fence, outcome, at);
  }

  endInFlight(fence: JobFence, error: CallError, at: number): Promise<number> {
    return endInFlight(this.db, fence, error, at);
  }

  reconcile(id: JobId): Promise<number> {
    return reconcileCounters(this.db, id);
  }
}

/** Compares and sets (state, version). */
async function moveJob(
  transaction: Queryable,
  { id, version }: Pick<Job, 'id' | 'version'>,
  { state, pauseReason, conclusion }: JobMove,
  at: number,
): Promise<{ readonly from: JobState; readonly job: Job } | undefined> {
  const [record] = await transaction.query<JobRecord & { readonly former_state: JobState }>(
    {
      text: `WITH former AS (SELECT state AS former_state FROM job WHERE id = $1 AND version = $2 FOR UPDATE)
       UPDATE job SET state = $3::job_state, pause_reason = $4::pause_reason, conclusion = $5::job_conclusion, version = version + 1,
         started_at = CASE WHEN $3 = 'RUNNING' THEN coalesce(started_at, $6) ELSE started_at END,
         finished_at = CASE WHEN $3 = 'FINISHED' THEN $6::timestamptz END
       FROM former WHERE id = $1 AND version = $2 RETURNING ${JOB_COLUMNS}, former_state`,
    },
    [id, version, state, pauseReason ?? null, conclusion ?? null, new Date(at)],
  );
  return record && { from: record.former_state, job: jobOf(record) };
}
