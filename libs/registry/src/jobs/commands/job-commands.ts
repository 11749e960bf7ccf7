/**
 * Creates jobs and moves them from state to state. Each change adds an entry to the audit trail and
 * an event in the same transaction.
 */
import type { Job, JobState, RunMove } from '@flotilla/jobs';
import type { JobId } from '@flotilla/mcp';
import { audited } from '../../audit/append-audit.js';
import type { AuditSource } from '../../audit/audit-entry.js';
import type { Database, Queryable } from '../../database/database.js';
import type { EventRow, EventStore, InsertedEvents } from '../../events/event-store.js';
import { ArgumentSeal } from '../../secrets/argument-seal.js';
import { JOB_COLUMNS, jobOf, type JobRecord } from '../job-rows.js';
import { reconcileCounters } from '../preparation/rebuild-counters.js';
import { dropApprovalTargets, restartWithApproval } from './approval-targets.js';
import { holdImages, insertJobs } from './insert-job.js';
import { jobCreated, jobMoved } from './job-audit.js';
import { createdEvent, movedEvents } from './job-events.js';
import type { EarlierJob, MissingImage, NewJob, OtherRun } from './new-job.js';
import { findOtherRun } from './other-run.js';

/**
 * A transition of a job. An absent pause reason or conclusion removes the previous one; an absent
 * tripped rule or health gate keeps it.
 */
export interface JobMove extends Omit<RunMove, 'gate'> {
  /** A cancel that does not wait for calls in flight. It stays forced. */
  readonly isCancelForced?: boolean;
  /** Who approved the wave after the open one. */
  readonly waveApprovedBy?: string;
  /** Who approved or denied the job. Absent keeps the previous one. */
  readonly approvedBy?: string | undefined;
  /** For the audit trail only. */
  readonly reason?: string | undefined;
}

/** A job after a change, and the stored events of the change. */
interface ChangedJob {
  readonly job: Job;
  readonly events: readonly EventRow[];
}

/** All jobs of a request, in its order. */
interface CreatedJobs {
  readonly kind: 'created';
  readonly jobs: readonly Job[];
  /** Stored already. */
  readonly events: readonly EventRow[];
}

/** The actor of transitions that no principal requested. */
const HUB: AuditSource = { actor: 'hub' };

export class JobCommands {
  /** Without a shared `seal`, only this object can read the secrets of the jobs that it creates. */
  constructor(
    private readonly db: Database,
    private readonly events: Pick<EventStore, 'insertIn' | 'announce'>,
    private readonly seal = new ArgumentSeal(),
  ) {}

  /**
   * Creates all jobs in one transaction, or none if the key of the first was used before, an image
   * is missing, or another run of its schedule is under way.
   */
  async createAll(
    jobs: readonly NewJob[],
    by: AuditSource,
  ): Promise<CreatedJobs | EarlierJob | MissingImage | OtherRun> {
    const written = await audited(
      this.db,
      by,
      (transaction) => this.#write(transaction, jobs),
      (answer) => (answer.kind === 'created' && answer.jobs.length > 0 ? jobs.map(jobCreated) : []),
    );
    if (written.kind !== 'created') return written;
    const { kind, jobs: created, inserted } = written;
    const [first] = jobs;
    if (created.length === 0 && first !== undefined) return (await this.earlier(first)) ?? { kind: 'conflict' };
    this.events.announce(inserted);
    return { kind, jobs: created, events: inserted.rows };
  }

  /** No jobs where the key of the first was used before. */
  async #write(
    transaction: Queryable,
    jobs: readonly NewJob[],
  ): Promise<(Omit<CreatedJobs, 'events'> & { readonly inserted: InsertedEvents }) | MissingImage | OtherRun> {
    if (!(await holdImages(transaction, jobs))) return { kind: 'image_missing' };
    for (const job of jobs) {
      const other = await findOtherRun(transaction, job);
      if (other !== undefined) return { kind: 'other_run', job: jobOf(other) };
    }
    const created = (await insertJobs(transaction, jobs, this.seal)).map(jobOf);
    const inserted = await this.events.insertIn(transaction, created.map(createdEvent));
    return { kind: 'created', jobs: created, inserted };
  }

  /** The earlier use of the idempotency key by its principal; undefined if the key is new. */
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

  /**
   * The unmasked arguments, for the process that runs the job. `lost` if their secrets were sealed
   * with another key, undefined for an unknown job.
   */
  async argumentsOf(id: JobId): Promise<Job['arguments'] | 'lost' | undefined> {
    const text = 'SELECT arguments, secret_arguments FROM job WHERE id = $1';
    const [row] = await this.db.query<{
      readonly arguments: Job['arguments'];
      readonly secret_arguments: Buffer | null;
    }>({ name: 'job-arguments', text }, [id]);
    if (row === undefined || row.secret_arguments === null) return row?.arguments;
    return this.seal.open(id, row.secret_arguments) ?? 'lost';
  }

  /**
   * Moves the job if it still has this version; undefined otherwise. `by` is the hub if it is
   * absent.
   */
  async transition(
    job: Pick<Job, 'id' | 'version'>,
    to: JobMove,
    at: number,
    by = HUB,
  ): Promise<ChangedJob | undefined> {
    const moved = await audited(
      this.db,
      by,
      async (transaction) => {
        const change = await moveJob(transaction, job, to, at);
        if (change === undefined) return undefined;
        const events = movedEvents(change.from, change.job, to.trippedHealthGate, at);
        return { ...change, events: await this.events.insertIn(transaction, events) };
      },
      (change) => (change === undefined ? [] : [jobMoved(change.from, change.job, to.reason, at)]),
    );
    if (moved === undefined) return undefined;
    this.events.announce(moved.events);
    return { job: moved.job, events: moved.events.rows };
  }

  /** Counts the targets and corrects the counters if they differ. Resolves to the difference. */
  reconcile(id: JobId): Promise<number> {
    return reconcileCounters(this.db, id);
  }
}

/** Compares and sets (state, version). */
async function moveJob(
  transaction: Queryable,
  { id, version }: Pick<Job, 'id' | 'version'>,
  to: JobMove,
  at: number,
): Promise<{ readonly from: JobState; readonly job: Job } | undefined> {
  const { state, pauseReason, conclusion, trippedRule, waveApprovedBy, approvedBy, isCancelForced = false } = to;
  const { trippedHealthGate } = to;
  const [record] = await transaction.query<JobRecord & { readonly former_state: JobState }>(
    {
      text: `WITH former AS (
         SELECT state AS former_state, current_wave AS former_wave, pause_reason AS former_reason
         FROM job WHERE id = $1 AND version = $2 FOR UPDATE
       ), approved AS (
         UPDATE job_wave w SET approved_by = $8::text FROM former f
         WHERE $8::text IS NOT NULL AND w.job_id = $1 AND w.number = f.former_wave
       )
       UPDATE job SET state = $3::job_state, pause_reason = $4::pause_reason, conclusion = $5::job_conclusion,
         version = version + 1,
         started_at = CASE WHEN $3 = 'RUNNING' THEN coalesce(started_at, $6) ELSE started_at END,
         secret_arguments = CASE WHEN $3 <> 'FINISHED' THEN secret_arguments END,
         finished_at = CASE WHEN $3 = 'FINISHED' THEN $6::timestamptz END,
         tripped_rule = coalesce($7::jsonb, tripped_rule),
         tripped_health_gate = coalesce($11::jsonb,
           tripped_health_gate || CASE WHEN former_reason = 'HEALTH_GATE' AND $3 = 'RUNNING'
             THEN jsonb_build_object('resumedAt', extract(epoch FROM $6::timestamptz) * 1000) END,
           tripped_health_gate),
         approved_by = coalesce($9::text, approved_by), cancel_forced = cancel_forced OR $10::boolean
       FROM former WHERE id = $1 AND version = $2 RETURNING ${JOB_COLUMNS}, former_state`,
    },
    [
      id,
      version,
      state,
      pauseReason,
      conclusion,
      new Date(at),
      trippedRule && JSON.stringify(trippedRule),
      waveApprovedBy,
      approvedBy,
      isCancelForced,
      trippedHealthGate && JSON.stringify(trippedHealthGate),
    ],
  );
  if (record?.state === 'FINISHED' && record.approval_targets !== null) await dropApprovalTargets(transaction, id);
  const held = record?.state === 'AWAITING_APPROVAL' ? await restartWithApproval(transaction, id) : undefined;
  return record && { from: record.former_state, job: jobOf(held ?? record) };
}
