/** Makes a job from an operator's request: checks its bounds, freezes the tool's policy, writes the row, and wakes a worker. Sends nothing. */
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
import type { Job, ToolPolicy } from '@flotilla/jobs';
import type { JobId } from '@flotilla/mcp';
import type { JobStore, NewJob, Registry } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import { sourceOf } from '../actor.js';
import type { Actor } from '../actor.js';
import type { FleetLogger } from '../fleet-logger.js';
import { announceJob } from './announce-job.js';
import { refuseJobRequest, refuseStart } from './job-request.js';
import type { JobRequest } from './job-request.js';
import { newId } from '../new-id.js';
import type { PolicyBook } from '../calls/policy-book.js';
import { refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';
import { requestHash } from '../request-hash.js';
import type { ToolGate } from '../calls/tool-gate.js';

/** The job, or why there is none. */
export interface JobAnswer {
  readonly job?: Job;
  readonly refusal?: Refusal;
}

export interface CreateJobDeps {
  readonly registry: Pick<Registry, 'jobs' | 'toolSets'>;
  readonly bus: Pick<Bus, 'feed' | 'ticks'>;
  readonly clock: Clock;
  readonly logger: FleetLogger;
  readonly gate: ToolGate;
  readonly policies: PolicyBook;
}

export async function createJob(deps: CreateJobDeps, request: JobRequest, idempotencyKey: string, actor: Actor): Promise<JobAnswer> {
  const invalid = refuseJobRequest(request, idempotencyKey);
  if (invalid !== undefined) return { refusal: invalid };
  const asked = { createdBy: actor.name, idempotencyKey, requestHash: requestHash(request) };
  // Before what may have changed since: a repetition gets its job also when another one would be refused now.
  const earlier = await deps.registry.jobs.earlier(asked);
  if (earlier !== undefined) return answerOf(earlier);
  const createdAt = deps.clock.now();
  const policy = await deps.policies.policyOf(request.tool);
  const refusal =
    refuseStart(request, createdAt) ??
    refuseVerification(request, policy) ??
    refuseAtGate(deps.gate, request, actor) ??
    (await refuseUserOnly(deps, request, actor)) ??
    (await refuseTooMany(deps, request));
  if (refusal !== undefined) return { refusal };
  const row: NewJob = {
    id: newId(createdAt) as JobId,
    state: 'PREPARING',
    name: request.name,
    tool: request.tool,
    arguments: request.arguments,
    devices: request.devices,
    ...boundsOf(request, createdAt),
    ...policyOf(request, policy),
    firmwareImageId: undefined,
    parentJobId: undefined,
    ...asked,
    mayCallUserOnly: actor.mayCallUserOnly,
    createdAt,
  };
  const created = await deps.registry.jobs.create(row, sourceOf(actor));
  if (created.kind === 'created') announceJob(deps, created.job.id);
  return answerOf(created);
}

/** How far and how fast: what was asked, or the defaults. */
function boundsOf(request: JobRequest, createdAt: number) {
  return {
    offline: request.offline ?? 'WAIT',
    expiresAt: createdAt + (request.expiresInSeconds === undefined ? jobLifeMsDefault : request.expiresInSeconds * 1_000),
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

/** A policy that says what to read offers READBACK. What verifies a restart or an upgrade comes with the tool: its answer alone proves nothing. */
function refuseVerification({ tool, verification }: JobRequest, policy: ToolPolicy): Refusal | undefined {
  if (verification === undefined || verification === policy.verification) return undefined;
  const isFixed = policy.verification === 'REBOOT' || policy.verification === 'FIRMWARE';
  const isOffered = verification === 'NONE' || (verification === 'READBACK' && policy.readback !== undefined);
  if (isOffered && !isFixed) return undefined;
  const offered = isFixed ? policy.verification : policy.readback === undefined ? 'NONE' : 'NONE or READBACK';
  return refuse('INVALID', ['input', 'verification'], `The verification of "${tool}" may be ${offered}, as its policy says.`);
}

function answerOf(made: Awaited<ReturnType<JobStore['create']>>): JobAnswer {
  if (made.kind !== 'conflict') return { job: made.job };
  return { refusal: refuse('IDEMPOTENCY_KEY_REUSED', ['idempotencyKey'], 'The key was used for another job.') };
}

function refuseAtGate(gate: ToolGate, request: JobRequest, actor: Actor): Refusal | undefined {
  const refusal = gate.refuseActor(request.tool, actor) ?? gate.refuseUrls(request);
  return refusal && refuse(refusal.error.code, ['input', refusal.part], refusal.error.message);
}

/** Jobs and targets that would be too many now. Devices that match later, while targets are being made, may still join the job. */
async function refuseTooMany({ registry }: CreateJobDeps, { devices }: JobRequest): Promise<Refusal | undefined> {
  const [live, targets] = await Promise.all([registry.jobs.liveCount(), registry.jobs.countDevices(devices, targetsMax + 1)]);
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

/** Refused at once where every device that has the tool lists it for users only; otherwise judged device by device. */
async function refuseUserOnly({ registry }: CreateJobDeps, { tool }: JobRequest, actor: Actor): Promise<Refusal | undefined> {
  if (actor.mayCallUserOnly) return undefined;
  const [open, guarded] = await Promise.all(
    [false, true].map((userOnly) => registry.toolSets.fleetTools({ name: tool, userOnly }, { first: 1 })),
  );
  if (open?.rows.length !== 0 || guarded?.rows.length === 0) return undefined;
  return refuse('TOOL_FORBIDDEN', ['input', 'tool'], `"${tool}" is for users only: calling it needs the scope TOOLS_CALL_PRIVILEGED.`);
}
