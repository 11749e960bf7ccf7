/** Makes a job from an operator's request: checks its bounds, freezes the tool's policy, writes the row, and wakes a worker. Sends nothing. */
import type { Bus } from '@flotilla/bus';
import {
  argumentsBytesMax,
  callTimeoutMsMax,
  callTimeoutMsMin,
  jobLifeMsDefault,
  jobLifeMsMax,
  liveJobsMax,
  maxInFlightDefault,
  maxInFlightMax,
  targetsMax,
} from '@flotilla/jobs';
import type { Job, OfflinePolicy } from '@flotilla/jobs';
import type { JobId } from '@flotilla/mcp';
import type { DeviceFilter, JobStore, Registry } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import { z } from 'zod';
import type { Actor } from '../actor.js';
import { refuseFilter } from '../device-filter-rules.js';
import type { FleetLogger } from '../fleet-logger.js';
import { announceJob } from './announce-job.js';
import { newId } from '../new-id.js';
import type { PolicyBook } from '../calls/policy-book.js';
import { refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';
import { requestHash } from '../request-hash.js';
import type { ToolGate } from '../calls/tool-gate.js';

export interface JobRequest {
  readonly name?: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly devices: DeviceFilter;
  /** What becomes of devices that are away (WAIT). */
  readonly offline?: OfflinePolicy;
  /** Life of never-sent targets, 1 s to 30 days (1 day). */
  readonly expiresInSeconds?: number;
  /** Time for each device's answer, 1,000 to 300,000 ms; what the tool's policy says where it is not given. */
  readonly callTimeoutMs?: number;
  /** Calls under way at a time, 1 to 10,000 (200). */
  readonly maxInFlight?: number;
}

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

/** Characters of what a caller names: stored, indexed and shown. */
const nameLengthMax = 200;

const boundsSchema = z.object({
  name: z.string().min(1).max(nameLengthMax).optional(),
  tool: z.string().min(1).max(nameLengthMax),
  expiresInSeconds: z
    .int()
    .min(1)
    .max(jobLifeMsMax / 1_000)
    .optional(),
  callTimeoutMs: z.int().min(callTimeoutMsMin).max(callTimeoutMsMax).optional(),
  maxInFlight: z.int().min(1).max(maxInFlightMax).optional(),
});
const keySchema = z.string().min(1).max(nameLengthMax);

export async function createJob(deps: CreateJobDeps, request: JobRequest, idempotencyKey: string, actor: Actor): Promise<JobAnswer> {
  const invalid = refuseRequest(request, idempotencyKey);
  if (invalid !== undefined) return { refusal: invalid };
  const asked = { createdBy: actor.name, idempotencyKey, requestHash: requestHash(request) };
  // Before what may have changed since: a repetition gets its job also when another one would be refused now.
  const earlier = await deps.registry.jobs.earlier(asked);
  if (earlier !== undefined) return answerOf(earlier);
  const refusal = refuseUrls(deps.gate, request) ?? (await refuseUserOnly(deps, request, actor)) ?? (await refuseTooMany(deps, request));
  if (refusal !== undefined) return { refusal };
  const { tool, arguments: args } = request;
  const policy = await deps.policies.policyOf(tool);
  const createdAt = deps.clock.now();
  const created = await deps.registry.jobs.create({
    id: newId(createdAt) as JobId,
    name: request.name,
    tool,
    arguments: args,
    devices: request.devices,
    offline: request.offline ?? 'WAIT',
    expiresAt: createdAt + (request.expiresInSeconds === undefined ? jobLifeMsDefault : request.expiresInSeconds * 1_000),
    callTimeoutMs: request.callTimeoutMs ?? policy.callTimeoutMs,
    maxInFlight: request.maxInFlight ?? maxInFlightDefault,
    idempotent: policy.idempotent,
    failureText: policy.failureText,
    ...asked,
    mayCallUserOnly: actor.mayCallUserOnly,
    createdAt,
  });
  if (created.kind === 'created') announceJob(deps, created.job.id);
  return answerOf(created);
}

function answerOf(made: Awaited<ReturnType<JobStore['create']>>): JobAnswer {
  if (made.kind !== 'conflict') return { job: made.job };
  return { refusal: refuse('IDEMPOTENCY_KEY_REUSED', ['idempotencyKey'], 'The key was used for another job.') };
}

function refuseRequest(request: JobRequest, idempotencyKey: string): Refusal | undefined {
  const bounds = boundsSchema.safeParse(request);
  if (!bounds.success) return refuseIssue(bounds.error.issues[0], ['input']);
  const key = keySchema.safeParse(idempotencyKey);
  if (!key.success) return refuseIssue(key.error.issues[0], ['idempotencyKey']);
  if (Buffer.byteLength(JSON.stringify(request.arguments)) > argumentsBytesMax) {
    return refuse('REQUEST_TOO_LARGE', ['input', 'arguments'], `The arguments are larger than ${argumentsBytesMax} bytes of JSON.`);
  }
  return refuseFilter(request.devices, ['input', 'devices']);
}

function refuseIssue(issue: z.core.$ZodIssue | undefined, path: readonly string[]): Refusal {
  const code = issue?.code === 'too_big' ? 'LIMIT_EXCEEDED' : 'INVALID';
  return refuse(code, [...path, ...(issue?.path ?? []).map(String)], issue?.message ?? 'The request is not valid.');
}

function refuseUrls(gate: ToolGate, request: JobRequest): Refusal | undefined {
  const error = gate.refuseUrls(request)?.error;
  return error && refuse(error.code, ['input', 'arguments'], error.message);
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
