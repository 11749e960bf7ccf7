/**
 * Creates a job for the targets of a finished job that ended in chosen outcomes. It keeps the
 * request, and uses the current policy and rights.
 */
import { isDeepStrictEqual } from 'node:util';
import { defaultAbortRules } from '@flotilla/jobs';
import type { Job, TargetOutcome, ToolPolicy } from '@flotilla/jobs';
import { hasMaskedSecret } from '@flotilla/mcp';
import { scopedFilter } from '@flotilla/registry';
import type { DeviceFilter } from '@flotilla/registry';
import type { Actor } from '../../actor.js';
import { refuseKey } from '../../idempotency/refuse-key.js';
import { refuse, withoutInput } from '../../refusal.js';
import type { Refusal } from '../../refusal.js';
import { requestHash } from '../../idempotency/request-hash.js';
import { createFrom, earlierJob } from './create-job.js';
import type { CreateJobDeps, JobAnswer } from './create-job.js';
import { offersVerification } from './refuse-new-job.js';
import type { RolloutRequest } from '../../rollout/rollout-request.js';
import type { JobRequest } from './job-request.js';

export interface RerunRequest {
  readonly outcomes: readonly TargetOutcome[];
  /** Leaves out targets with these error codes. */
  readonly exceptCodes?: readonly string[] | undefined;
  /** In place of the job's own; needed where those have secrets, which are not kept. */
  readonly arguments?: Job['arguments'] | undefined;
}

export async function rerunJob(
  deps: CreateJobDeps,
  id: string,
  { outcomes, exceptCodes: unwanted, arguments: given }: RerunRequest,
  idempotencyKey: string,
  actor: Actor,
): Promise<JobAnswer> {
  const invalidKey = refuseKey(idempotencyKey, ['idempotencyKey']);
  if (invalidKey !== undefined) return { refusal: invalidKey };
  const chosen = [...new Set(outcomes)].sort();
  const exceptCodes = [...new Set(unwanted)].sort();
  const asked = {
    idempotencyKey,
    requestHash: requestHash({
      rerunOf: id.toLowerCase(),
      outcomes: chosen,
      args: given,
      ...(exceptCodes.length > 0 && { exceptCodes }),
    }),
  };
  // Before the parent is read, which a repeated request may no longer see.
  const earlier = await earlierJob(deps, asked, actor);
  if (earlier !== undefined) return earlier;
  const parent = await deps.registry.viewFor(actor).jobs.find(id);
  const refusal =
    parent === undefined
      ? refuse('NOT_FOUND', ['id'], `There is no job "${id}".`)
      : refuseParent(parent, outcomes, given);
  if (parent === undefined || refusal !== undefined) return { ...(refusal && { refusal }) };
  const targetsOf = { jobId: parent.id, outcomes: chosen, exceptCodes, ...seenBy(actor, parent) };
  const devices: DeviceFilter = { targetsOf };
  const policy = await deps.policies.policyOf(parent.tool);
  const request = requestOf({ ...parent, arguments: given ?? parent.arguments }, devices, policy);
  const answer = await createFrom(deps, request, {
    idempotencyKey,
    actor,
    parentJobId: parent.id,
    requestHash: asked.requestHash,
    refuseMore: async () => {
      if ((await deps.registry.targetPreparation.countDevices(scopedFilter(devices, actor.devices), 1)) > 0)
        return undefined;
      return refuse('INVALID', ['outcomes'], 'No device that is still there ended so in this job.');
    },
  });
  return answer.refusal === undefined ? answer : { refusal: asRerun(answer.refusal) };
}

/** Of a job of another owner, a key with a device filter does not see all targets. */
export function seenBy({ devices, id }: Actor, former: Job): { readonly onlySeen?: true } {
  return devices === undefined || former.createdById === id ? {} : { onlySeen: true };
}

/** Errors name `id`, because all but the arguments comes from the former job. */
function asRerun(refusal: Refusal): Refusal {
  return withoutInput(refusal, refusal.path[1] === 'arguments' ? refusal.path.slice(1) : ['id']);
}

function refuseParent(
  { state, tool, arguments: args, firmwareImageId }: Job,
  outcomes: readonly TargetOutcome[],
  given: RerunRequest['arguments'],
): Refusal | undefined {
  if (outcomes.length === 0)
    return refuse(
      'INVALID',
      ['outcomes'],
      'Say which outcomes are to be run again; a target of a job never ends NOT_SENT.',
    );
  if (state !== 'FINISHED')
    return refuse('CONFLICT', ['id'], `The job is ${state}: it can be run again when it is FINISHED.`);
  if (given !== undefined && firmwareImageId !== undefined)
    return refuse('INVALID', ['arguments'], 'A roll-out takes no arguments: its image decides them.');
  if (given !== undefined || !hasMaskedSecret(tool, args)) return undefined;
  return refuse(
    'INVALID',
    ['arguments'],
    'The secret arguments of the job were erased when it finished. Give the arguments again, in "arguments".',
  );
}

function requestOf(parent: Job, devices: DeviceFilter, policy: ToolPolicy): JobRequest | RolloutRequest {
  const { tool, arguments: args, firmwareImageId, skipIfSatisfied } = parent;
  const terms = { ...askedTermsOf(parent), devices };
  // The current image decides the rest.
  if (firmwareImageId !== undefined) return { ...terms, firmwareImageId };
  // If the current policy no longer offers the former verification, or prescribes another, the
  // policy decides.
  const verification = offersVerification(policy, parent.verification) ? parent.verification : policy.verification;
  const isSkipped = skipIfSatisfied && policy.readback !== undefined;
  return {
    ...terms,
    tool,
    arguments: args,
    verification,
    skipIfSatisfied: isSkipped,
    ...(parent.idempotent && { maxAttempts: parent.maxAttempts }),
  };
}

/** The terms that a job was created with, as a request has them. */
function askedTermsOf(parent: Job) {
  const { name, offline, callTimeoutMs, maxInFlight, perMinute, priority, waves, window } = parent;
  return {
    offline,
    callTimeoutMs,
    maxInFlight,
    priority,
    waves,
    ...(name !== undefined && { name }),
    ...(perMinute !== undefined && { perMinute }),
    ...(window !== undefined && { window }),
    ...(parent.healthGate && { health: parent.healthGate }),
    ...(!hasDefaultRules(parent) && { abort: parent.abortRules }),
    expiresInSeconds: Math.max(1, Math.round((parent.expiresAt - (parent.startAt ?? parent.createdAt)) / 1_000)),
  };
}

/** Default rules come from the policy as it is now. */
function hasDefaultRules(parent: Job): boolean {
  return isDeepStrictEqual(parent.abortRules, defaultAbortRules(parent));
}
