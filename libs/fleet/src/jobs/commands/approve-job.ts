/** Lets a second person approve or deny a job. An approver needs the right to call the tool. */
import { nextJobState } from '@flotilla/jobs';
import type { Job } from '@flotilla/jobs';
import type { JobMove, Registry, Scope } from '@flotilla/registry';
import { ownerOf } from '../../actor.js';
import type { Actor } from '../../actor.js';
import type { CallRules } from '../../calls/call-rules.js';
import { refuse } from '../../refusal.js';
import type { Refusal } from '../../refusal.js';
import type { JobAnswer } from './create-job.js';
import { refuseTool, requireToolScope, scopeToCall, userOnlyTool } from './refuse-tool.js';
import { steerJob } from './steer-job.js';
import type { SteerJobDeps } from './steer-job.js';

interface ApproveJobDeps extends SteerJobDeps {
  readonly registry: Pick<Registry, 'jobCommands' | 'jobs' | 'toolSets' | 'viewFor'>;
  readonly callRules: CallRules;
}

/** Characters of a reason: a line of the audit trail. */
const reasonLengthMax = 500;

/** Approving again changes nothing. */
export async function approveJob(deps: ApproveJobDeps, id: string, actor: Actor): Promise<JobAnswer> {
  const job = await deps.registry.viewFor(actor).jobs.find(id);
  if (job !== undefined && job.firmwareImageId === undefined) requireToolScope(actor);
  const refusal = job && (refuseApprover(job, actor) ?? (await refuseToolOf(deps, job, actor)));
  if (refusal !== undefined) return { refusal };
  return steerJob(deps, id, actor, (now) => {
    const state = nextJobState(now, 'approve');
    if (state !== undefined) return { state, approvedBy: actor.name };
    return now.approvedBy !== undefined && now.conclusion !== 'DENIED' ? undefined : doesNotWait(now);
  });
}

/** The scope besides JOBS_WRITE that the actor lacks to approve a job that waits. */
export async function scopeToApprove(deps: ApproveJobDeps, job: Job, actor: Actor): Promise<Scope | undefined> {
  if (job.state !== 'AWAITING_APPROVAL') return undefined;
  const caller = job.firmwareImageId === undefined ? actor : { ...actor, mayCallTools: true };
  const scope = await scopeToCall(deps, job.tool, caller);
  return scope ?? ((await isBeyond(deps, job, actor)) ? 'TOOLS_CALL_PRIVILEGED' : undefined);
}

/** Denying again changes nothing. `reason` is on the audit trail. */
export async function denyJob(deps: ApproveJobDeps, id: string, reason: string, actor: Actor): Promise<JobAnswer> {
  if (reason.trim() === '' || reason.length > reasonLengthMax) {
    return { refusal: refuse('INVALID', ['reason'], `A reason has 1 to ${reasonLengthMax} characters.`) };
  }
  return steerJob(deps, id, actor, (job): JobMove | Refusal | undefined => {
    const refusal = refuseApprover(job, actor);
    if (refusal !== undefined) return refusal;
    const state = nextJobState(job, 'deny');
    if (state !== undefined) return { state, conclusion: 'DENIED', approvedBy: actor.name, reason };
    return job.conclusion === 'DENIED' ? undefined : doesNotWait(job);
  });
}

/** Whether a job is of the actor, or of a key or session of the same person. */
export function isCreatorOf({ createdById, createdByOwner }: Job, actor: Actor): boolean {
  return ownerOf({ id: createdById, owner: createdByOwner }) === ownerOf(actor);
}

/** The job calls the tool with the rights of its creator, also where it is user-only. */
async function refuseToolOf(deps: ApproveJobDeps, job: Job, actor: Actor): Promise<Refusal | undefined> {
  const refusal = await refuseTool(deps, job.tool, actor, ['id']);
  if (refusal !== undefined) return refusal;
  return (await isBeyond(deps, job, actor)) ? userOnlyTool(job.tool, ['id']) : undefined;
}

async function isBeyond({ registry }: ApproveJobDeps, { id, mayCallUserOnly }: Job, actor: Actor): Promise<boolean> {
  return !actor.mayCallUserOnly && mayCallUserOnly && (await registry.jobs.reservesTool(id));
}

function refuseApprover(job: Job, actor: Actor): Refusal | undefined {
  if (!isCreatorOf(job, actor)) return undefined;
  const message =
    `You created this job, or own the key "${job.createdBy}" that did: ` +
    'another person has to approve or deny it. You can cancel it.';
  return refuse('CONFLICT', ['id'], message);
}

function doesNotWait({ state }: Job): Refusal {
  return refuse('CONFLICT', ['id'], `The job does not wait for approval: it is ${state}.`);
}
