/**
 * Creates a job from an operator's request: checks its bounds, freezes the tool's policy, writes
 * the row, and wakes a worker. Sends nothing.
 */
import type { Bus } from '@flotilla/bus';
import {
  defaultAbortRules,
  jobLifeMsDefault,
  liveJobsMax,
  maxAttemptsDefault,
  maxInFlightDefault,
  priorityDefault,
  targetsMax,
} from '@flotilla/jobs';
import type { Job, ToolPolicy, Verification } from '@flotilla/jobs';
import type { JobId } from '@flotilla/mcp';
import { scopedFilter } from '@flotilla/registry';
import type { EarlierJob, MissingImage, NewJob, Registry } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import { needsApproval } from '../../approvals/approval-rules.js';
import type { ApprovalRules } from '../../approvals/approval-rules.js';
import { ownerOf, sourceOf } from '../../actor.js';
import type { Actor } from '../../actor.js';
import type { FleetLogger } from '../../fleet-logger.js';
import { refuseUnknownGroups } from '../../groups/device-groups.js';
import { refuseKey } from '../../idempotency/refuse-key.js';
import { announceJob } from '../job-notifications.js';
import { writeJobEvent } from '../job-notifications.js';
import { refuseJobRequest, refuseStart } from './job-request.js';
import type { JobRequest } from './job-request.js';
import { jobOfImage, planRollout, refuseImage } from '../../rollout/rollout-request.js';
import type { PlannedRollout, RolloutRequest } from '../../rollout/rollout-request.js';
import { refuseTool, requireToolScope } from './refuse-tool.js';
import { newId } from '../../new-id.js';
import type { PolicyCache } from '../../calls/policy-cache.js';
import { refuse } from '../../refusal.js';
import type { Refusal } from '../../refusal.js';
import { requestHash } from '../../idempotency/request-hash.js';
import type { ToolGate } from '../../calls/tool-gate.js';

/** The job, or the reason for its refusal. */
export interface JobAnswer {
  readonly job?: Job;
  readonly refusal?: Refusal;
}

export interface CreateJobDeps {
  readonly registry: Pick<Registry, 'events' | 'firmwareImages' | 'jobs' | 'toolSets' | 'viewFor'>;
  readonly bus: Pick<Bus, 'feed' | 'ticks'>;
  readonly clock: Clock;
  readonly logger: FleetLogger;
  readonly gate: ToolGate;
  readonly policies: PolicyCache;
  /** Which jobs wait for a second person. */
  readonly approvals: ApprovalRules;
  /** Refuses roll-outs of images without a valid signature. */
  readonly mustBeSigned: boolean;
}

export function createJob(
  deps: CreateJobDeps,
  request: JobRequest | RolloutRequest,
  idempotencyKey: string,
  actor: Actor,
): Promise<JobAnswer> {
  return makeJob(deps, request, { idempotencyKey, actor });
}

/** Who asks, and for what reason. */
export interface Making {
  readonly idempotencyKey: string;
  readonly actor: Actor;
  /** The job whose targets this one takes over. */
  readonly parentJobId?: JobId;
  /** Where the same act may come to ask for something else when it is repeated. */
  readonly requestHash?: string;
  /** Asked for a job that is not there yet, after everything else. */
  readonly refuseMore?: () => Promise<Refusal | undefined>;
}

export async function makeJob(
  deps: CreateJobDeps,
  request: JobRequest | RolloutRequest,
  making: Making,
): Promise<JobAnswer> {
  const planned = await planJob(deps, request, making);
  if (!('row' in planned)) return planned;
  const [created] = await writeJobs(deps, [planned.row], making.actor);
  return created ?? {};
}

/** The row to write, or the answer: the job of an earlier request with this key, or a refusal. */
export async function planJob(
  deps: CreateJobDeps,
  request: JobRequest | RolloutRequest,
  making: Making,
): Promise<{ readonly row: NewJob } | JobAnswer> {
  const invalidKey = refuseKey(making.idempotencyKey, ['idempotencyKey']);
  if (invalidKey !== undefined) return { refusal: invalidKey };
  const { actor, idempotencyKey } = making;
  if (!('firmwareImageId' in request)) requireToolScope(actor);
  const asked = { createdById: actor.id, idempotencyKey, requestHash: making.requestHash ?? requestHash(request) };
  // A repeated request gets its job first, also where a new one would be refused now.
  const earlier = await madeBefore(deps, asked);
  if (earlier !== undefined) return earlier;
  if (!('firmwareImageId' in request)) return planFrom(deps, { request }, making, asked);
  const planned = await planRollout(deps.registry, request);
  return 'code' in planned ? { refusal: planned } : planFrom(deps, planned, making, asked);
}

/** By whom, under which key, and for what. */
type Asked = Pick<NewJob, 'createdById' | 'idempotencyKey' | 'requestHash'>;

/** The job of an earlier request with this key, or a refusal; undefined where the key is new. */
export async function madeBefore(
  { registry }: Pick<CreateJobDeps, 'registry'>,
  asked: Asked,
): Promise<JobAnswer | undefined> {
  const earlier = await registry.jobs.earlier(asked);
  return earlier && answerOf(earlier);
}

/**
 * Writes all rows in one transaction. Returns one answer where the first exists, or none can be
 * created.
 */
export async function writeJobs(
  deps: CreateJobDeps,
  rows: readonly NewJob[],
  actor: Actor,
): Promise<readonly JobAnswer[]> {
  const created = await deps.registry.jobs.createAll(rows, sourceOf(actor));
  if (created.kind !== 'created') return [answerOf(created)];
  for (const job of created.jobs) {
    announceJob(deps, job.id);
    writeJobEvent(deps, 'job.created', job);
  }
  return created.jobs.map((job) => ({ job }));
}

/** With the image, where it is a roll-out. */
export interface AskedJob {
  readonly request: JobRequest;
  readonly image?: PlannedRollout['image'] | undefined;
}

async function planFrom(
  deps: CreateJobDeps,
  { request, image }: AskedJob,
  { actor, parentJobId, refuseMore }: Making,
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
    ...(image && jobOfImage(image)),
    ...asked,
    createdBy: actor.name,
    createdByOwner: ownerOf(actor),
    mayCallUserOnly: actor.mayCallUserOnly,
    createdAt,
  };
  return { row };
}

/** The policy of the tool. A roll-out is always disruptive. */
export async function policyFor(
  { policies }: Pick<CreateJobDeps, 'policies'>,
  { request, image }: AskedJob,
): Promise<ToolPolicy> {
  return { ...(await policies.policyOf(request.tool)), ...(image && jobOfImage(image)) };
}

/** What depends on the fleet, the tool and the caller. */
export async function refuseNewJob(
  deps: CreateJobDeps,
  { request, image }: AskedJob,
  policy: ToolPolicy,
  actor: Actor,
): Promise<Refusal | undefined> {
  return (
    refuseStart(request, deps.clock.now()) ??
    refuseVerification(request, policy) ??
    (image ? undefined : refuseSkip(request, policy)) ??
    (image ? refuseImage(image, actor, deps) : refuseUrls(deps.gate, request)) ??
    (await refuseTool(deps, request.tool, actor, ['input', 'tool'])) ??
    (await refuseUnknownGroups(deps.registry.viewFor(actor), request.devices, ['input', 'devices'])) ??
    (await refuseTooMany(deps, request))
  );
}

/** What was asked, the defaults, and what the tool's policy says now. */
export function termsOf(request: JobRequest, policy: ToolPolicy, createdAt: number) {
  return { ...boundsOf(request, createdAt), ...policyOf(request, policy) };
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

/** How far and how fast: what was asked, or the defaults. */
function boundsOf(request: JobRequest, createdAt: number) {
  return {
    offline: request.offline ?? 'WAIT',
    // Waiting for the start is no waiting for devices.
    expiresAt:
      (request.startAt ?? createdAt) +
      (request.expiresInSeconds === undefined ? jobLifeMsDefault : request.expiresInSeconds * 1_000),
    maxInFlight: request.maxInFlight ?? maxInFlightDefault,
    perMinute: request.perMinute,
    priority: request.priority ?? priorityDefault,
    waves: request.waves ?? [],
    skipIfSatisfied: request.skipIfSatisfied ?? false,
    startAt: request.startAt,
    window: request.window,
  } as const;
}

/** What the tool's policy says now: a later change of it does not change this job's promises. */
function policyOf(request: JobRequest, policy: ToolPolicy) {
  return {
    callTimeoutMs: request.callTimeoutMs ?? policy.callTimeoutMs,
    idempotent: policy.idempotent,
    disruptive: policy.disruptive,
    disconnectExpected: policy.disconnectExpected,
    failureText: policy.failureText,
    verification: request.verification ?? policy.verification,
    readback: policy.readback,
    maxAttempts: policy.idempotent ? (request.maxAttempts ?? maxAttemptsDefault) : 1,
    abortRules: request.abort ?? defaultAbortRules({ disruptive: policy.disruptive, waves: request.waves ?? [] }),
  };
}

/**
 * READBACK needs a readback in the policy. A tool that restarts or upgrades is always verified: its
 * answer alone proves nothing.
 */
export function offersVerification(policy: ToolPolicy, verification: Verification): boolean {
  if (verification === policy.verification) return true;
  return (
    !isFixed(policy) && (verification === 'NONE' || (verification === 'READBACK' && policy.readback !== undefined))
  );
}

function isFixed({ verification }: ToolPolicy): boolean {
  return verification === 'REBOOT' || verification === 'FIRMWARE';
}

function refuseVerification({ tool, verification }: JobRequest, policy: ToolPolicy): Refusal | undefined {
  if (verification === undefined || offersVerification(policy, verification)) return undefined;
  const offered = isFixed(policy) ? policy.verification : policy.readback === undefined ? 'NONE' : 'NONE or READBACK';
  return refuse(
    'INVALID',
    ['input', 'verification'],
    `The verification of "${tool}" may be ${offered}, as its policy says.`,
  );
}

/** Skipping needs a readback. Roll-outs compare versions instead. */
function refuseSkip({ tool, skipIfSatisfied }: JobRequest, { readback }: ToolPolicy): Refusal | undefined {
  if (skipIfSatisfied !== true || readback !== undefined) return undefined;
  return refuse(
    'INVALID',
    ['input', 'skipIfSatisfied'],
    `The policy of "${tool}" does not say what to read: set its readback, or leave "skipIfSatisfied" out.`,
  );
}

function answerOf(made: EarlierJob | MissingImage): JobAnswer {
  if (made.kind === 'repeat') return { job: made.job };
  if (made.kind === 'image_missing')
    return { refusal: refuse('NOT_FOUND', ['input', 'firmwareImageId'], 'The firmware image was deleted meanwhile.') };
  return { refusal: refuse('IDEMPOTENCY_KEY_REUSED', ['idempotencyKey'], 'The key was used for another job.') };
}

function refuseUrls(gate: ToolGate, request: JobRequest): Refusal | undefined {
  const error = gate.refuseUrls(request)?.error;
  return error && refuse(error.code, ['input', 'arguments'], error.message);
}

/** Checks the limits of now. Devices that match during preparation may still join the job. */
async function refuseTooMany({ registry }: CreateJobDeps, { devices }: JobRequest): Promise<Refusal | undefined> {
  const [live, targets] = await Promise.all([
    registry.jobs.liveCount(),
    registry.jobs.countDevices(devices, targetsMax + 1),
  ]);
  if (live >= liveJobsMax) {
    return refuse('LIMIT_EXCEEDED', [], `${liveJobsMax} jobs are not finished; that is the most that may be live.`);
  }
  if (targets <= targetsMax) return undefined;
  return refuse(
    'LIMIT_EXCEEDED',
    ['input', 'devices'],
    `The filter matches more than ${targetsMax} devices; that is the most for one job.`,
  );
}
