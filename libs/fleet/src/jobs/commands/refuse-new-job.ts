/** Why a new job is refused: its request, its tool, its caller, or the limits of now. */
import { liveJobsMax, targetsMax } from '@flotilla/jobs';
import type { ToolPolicy, Verification } from '@flotilla/jobs';
import type { Registry } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import type { Actor } from '../../actor.js';
import type { CallRules } from '../../calls/call-rules.js';
import { refuseUnknownGroups } from '../../groups/device-groups.js';
import { refuse } from '../../refusal.js';
import type { Refusal } from '../../refusal.js';
import { refuseImage } from '../../rollout/rollout-request.js';
import { refuseMasks } from '../../stored-secrets.js';
import { refuseStart } from './job-request.js';
import type { JobRequest } from './job-request.js';
import type { AskedJob } from './job-terms.js';
import { refuseTool } from './refuse-tool.js';

export interface NewJobDeps {
  readonly registry: Pick<Registry, 'jobs' | 'targetPreparation' | 'toolSets' | 'viewFor'>;
  readonly clock: Clock;
  readonly callRules: CallRules;
  /** Refuses roll-outs of images without a valid signature. */
  readonly mustBeSigned: boolean;
}

/** What depends on the fleet, the tool and the caller. */
export async function refuseNewJob(
  deps: NewJobDeps,
  asked: AskedJob,
  policy: ToolPolicy,
  actor: Actor,
): Promise<Refusal | undefined> {
  return (await refuseLaterJob(deps, asked, policy, actor)) ?? refuseLiveJobs(deps);
}

/** The same for a job that is created later: the jobs that are live now do not matter. */
export async function refuseLaterJob(
  deps: NewJobDeps,
  { request, image }: AskedJob,
  policy: ToolPolicy,
  actor: Actor,
): Promise<Refusal | undefined> {
  return (
    refuseStart(request, deps.clock.now()) ??
    refuseVerification(request, policy) ??
    (image ? undefined : refuseSkip(request, policy)) ??
    (image ? refuseImage(image, actor, deps) : refuseUrls(deps.callRules, request)) ??
    (await refuseTool(deps, request.tool, actor, ['input', 'tool'])) ??
    (await refuseMasks(deps.registry.toolSets, request, actor, ['input', 'arguments'])) ??
    (await refuseUnknownGroups(deps.registry.viewFor(actor), request.devices, ['input', 'devices'])) ??
    (await refuseTargets(deps, request))
  );
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

function refuseUrls(callRules: CallRules, request: JobRequest): Refusal | undefined {
  const error = callRules.refuseUrls(request)?.error;
  return error && refuse(error.code, ['input', 'arguments'], error.message);
}

async function refuseLiveJobs({ registry }: NewJobDeps): Promise<Refusal | undefined> {
  if ((await registry.jobs.liveCount()) < liveJobsMax) return undefined;
  return refuse('LIMIT_EXCEEDED', [], `${liveJobsMax} jobs are not finished; that is the most that may be live.`);
}

/** Devices that match during preparation may still join the job. */
async function refuseTargets({ registry }: NewJobDeps, { devices }: JobRequest): Promise<Refusal | undefined> {
  const targets = await registry.targetPreparation.countDevices(devices, targetsMax + 1);
  if (targets <= targetsMax) return undefined;
  return refuse(
    'LIMIT_EXCEEDED',
    ['input', 'devices'],
    `The filter matches more than ${targetsMax} devices; that is the most for one job.`,
  );
}
