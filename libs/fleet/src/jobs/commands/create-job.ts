/**
 * Creates a job from an operator's request: checks its bounds, freezes the tool's policy, writes
 * the row, and wakes a worker. Sends nothing.
 */
import type { Bus } from '@flotilla/bus';
import type { Job, ToolPolicy } from '@flotilla/jobs';
import type { JobId } from '@flotilla/mcp';
import { scopedFilter } from '@flotilla/registry';
import type { EarlierJob, MissingImage, NewJob, OtherRun, Registry } from '@flotilla/registry';
import { needsApproval } from '../../approvals/approval-rules.js';
import type { ApprovalRules } from '../../approvals/approval-rules.js';
import { ownerOf, sourceOf } from '../../actor.js';
import type { Actor } from '../../actor.js';
import type { FleetLogger } from '../../fleet-logger.js';
import { refuseKey } from '../../idempotency/refuse-key.js';
import { requestHash } from '../../idempotency/request-hash.js';
import { newId } from '../../new-id.js';
import { refuse } from '../../refusal.js';
import type { Refusal } from '../../refusal.js';
import { jobOfImage, planRollout } from '../../rollout/rollout-request.js';
import type { RolloutRequest } from '../../rollout/rollout-request.js';
import { announceJob, publishEvents } from '../job-notifications.js';
import { refuseJobRequest } from './job-request.js';
import type { JobRequest } from './job-request.js';
import { policyFor, termsOf } from './job-terms.js';
import type { AskedJob, PolicyDeps } from './job-terms.js';
import { refuseNewJob } from './refuse-new-job.js';
import type { NewJobDeps } from './refuse-new-job.js';
import { requireToolScope } from './refuse-tool.js';

/** The job, or the reason for its refusal. */
export interface JobAnswer {
  readonly job?: Job;
  readonly refusal?: Refusal;
}

/** `former`: the unfinished run of the same schedule, which prevented this job. */
export interface WrittenJob extends JobAnswer {
  readonly former?: Job;
}

export interface CreateJobDeps extends NewJobDeps, PolicyDeps {
  readonly registry: NewJobDeps['registry'] & Pick<Registry, 'firmwareImages' | 'jobCommands'>;
  readonly bus: Pick<Bus, 'feed' | 'ticks'>;
  readonly logger: FleetLogger;
  /** Which jobs wait for a second person. */
  readonly approvals: ApprovalRules;
}

/** `hash` replaces that of the request if a repetition may name other devices. */
export function createJob(
  deps: CreateJobDeps,
  request: JobRequest | RolloutRequest,
  idempotencyKey: string,
  actor: Actor,
  hash?: string,
): Promise<JobAnswer> {
  return createFrom(deps, request, { idempotencyKey, actor, ...(hash !== undefined && { requestHash: hash }) });
}

/** What `createJob` returns for a key that the actor has used; undefined for a new one. */
export async function earlierJob(
  { registry }: Pick<CreateJobDeps, 'registry'>,
  { idempotencyKey, requestHash: hash }: Pick<NewJob, 'idempotencyKey' | 'requestHash'>,
  { id: createdById }: Actor,
): Promise<JobAnswer | undefined> {
  const earlier = await registry.jobCommands.earlier({ createdById, idempotencyKey, requestHash: hash });
  return earlier && answerOf(earlier);
}

/** Where a new job comes from: its caller and idempotency key, and the job that it follows. */
interface JobOrigin {
  readonly idempotencyKey: string;
  readonly actor: Actor;
  /** The job whose targets this one takes over. */
  readonly parentJobId?: JobId;
  /** The schedule that creates it. */
  readonly recurringJobId?: string;
  /** Replaces the hash of the request where a repetition may lead to another request. */
  readonly requestHash?: string;
  /** The last check, for new jobs only. */
  readonly refuseMore?: () => Promise<Refusal | undefined>;
}

/** Creates a job, also one that follows another. A repeated request gets its earlier job. */
export async function createFrom(
  deps: CreateJobDeps,
  request: JobRequest | RolloutRequest,
  origin: JobOrigin,
): Promise<JobAnswer> {
  const planned = await planJob(deps, request, origin);
  if (!('row' in planned)) return planned;
  const [created] = await writeJobs(deps, [planned.row], origin.actor);
  return created ?? {};
}

/** The row to write, or the answer: the job of an earlier request with this key, or a refusal. */
export async function planJob(
  deps: CreateJobDeps,
  request: JobRequest | RolloutRequest,
  origin: JobOrigin,
): Promise<{ readonly row: NewJob } | JobAnswer> {
  const invalidKey = refuseKey(origin.idempotencyKey, ['idempotencyKey']);
  if (invalidKey !== undefined) return { refusal: invalidKey };
  const { actor, idempotencyKey } = origin;
  if (!('firmwareImageId' in request)) requireToolScope(actor);
  const asked = { createdById: actor.id, idempotencyKey, requestHash: origin.requestHash ?? requestHash(request) };
  // A repeated request gets its job first, also where a new one would be refused now.
  const earlier = await earlierJob(deps, asked, actor);
  if (earlier !== undefined) return earlier;
  if (!('firmwareImageId' in request)) return planFrom(deps, { request }, origin, asked);
  const planned = await planRollout(deps.registry, request);
  return 'code' in planned ? { refusal: planned } : planFrom(deps, planned, origin, asked);
}

/** By whom, under which key, and for what. */
type Asked = Pick<NewJob, 'createdById' | 'idempotencyKey' | 'requestHash'>;

/**
 * Writes all rows in one transaction. Returns a single answer if the first job exists already, or
 * if no job can be created.
 */
export async function writeJobs(
  deps: CreateJobDeps,
  rows: readonly NewJob[],
  actor: Actor,
): Promise<readonly WrittenJob[]> {
  const created = await deps.registry.jobCommands.createAll(rows, sourceOf(actor));
  if (created.kind !== 'created') return [answerOf(created)];
  for (const job of created.jobs) announceJob(deps, job.id);
  publishEvents(deps, created.events);
  return created.jobs.map((job) => ({ job }));
}

async function planFrom(
  deps: CreateJobDeps,
  { request, image }: AskedJob,
  { actor, parentJobId, recurringJobId, refuseMore }: JobOrigin,
  asked: Asked,
): Promise<{ readonly row: NewJob } | JobAnswer> {
  const invalid = refuseJobRequest(request);
  if (invalid !== undefined) return { refusal: invalid };
  const createdAt = deps.clock.now();
  const policy = await policyFor(deps, { request, image });
  // Frozen into the job: a later change of the key cannot widen it.
  const devices = scopedFilter(request.devices, actor.devices);
  const refusal =
    (await refuseNewJob(deps, { request: { ...request, devices }, image }, policy, actor)) ?? (await refuseMore?.());
  if (refusal !== undefined) return { refusal };
  const row = {
    id: newId(createdAt) as JobId,
    state: firstState(deps, { request, image }, policy, actor),
    name: request.name,
    tool: request.tool,
    arguments: request.arguments,
    devices,
    ...termsOf(request, policy, createdAt),
    firmwareImageId: undefined,
    parentJobId,
    recurringJobId,
    ...(image && jobOfImage(image)),
    ...asked,
    createdBy: actor.name,
    createdByOwner: ownerOf(actor),
    mayCallUserOnly: actor.mayCallUserOnly,
    createdAt,
  };
  return { row };
}

function firstState(
  { approvals }: CreateJobDeps,
  { request, image }: AskedJob,
  policy: ToolPolicy,
  actor: Actor,
): NewJob['state'] {
  if (needsApproval(approvals, { tool: request.tool, policy, image }, actor)) return 'AWAITING_APPROVAL';
  return request.startAt === undefined ? 'PREPARING' : 'SCHEDULED';
}

function answerOf(made: EarlierJob | MissingImage | OtherRun): WrittenJob {
  if (made.kind === 'repeat') return { job: made.job };
  if (made.kind === 'other_run') return { former: made.job };
  if (made.kind === 'image_missing')
    return { refusal: refuse('NOT_FOUND', ['input', 'firmwareImageId'], 'The firmware image was deleted meanwhile.') };
  return { refusal: refuse('IDEMPOTENCY_KEY_REUSED', ['idempotencyKey'], 'The key was used for another job.') };
}
