/** What an owner asks of a recurring job, and what is refused. */
import { isTimeZone } from '@flotilla/mcp';
import { scopedFilter } from '@flotilla/registry';
import type { RecurringJobPlan, RecurringRequest } from '@flotilla/registry';
import type { Actor } from '../actor.js';
import { requestHash } from '../idempotency/request-hash.js';
import { jobDefaults } from '../jobs/commands/job-terms.js';
import { previewLaterJob } from '../jobs/commands/preview-job.js';
import type { PreviewJobDeps } from '../jobs/commands/preview-job.js';
import type { JobRequest } from '../jobs/commands/job-request.js';
import { refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';
import type { RolloutRequest } from '../rollout/rollout-request.js';
import { cronProblem } from './cron-times.js';

export interface RecurringJobRequest extends Omit<RecurringJobPlan, 'request'> {
  readonly job: JobRequest | RolloutRequest;
}

/** One line of a list. */
const namePattern = /^\P{Cc}{1,100}$/u;
const CRON_CHARACTERS_MAX = 200;

/**
 * Refuses what `createJob` would refuse now. The path of such a refusal begins with `input.job`.
 */
export async function refuseRecurringJob(
  deps: PreviewJobDeps,
  request: RecurringJobRequest,
  actor: Actor,
): Promise<Refusal | undefined> {
  const { cron, job, name, timeZone, until } = request;
  const now = deps.clock.now();
  if (name.trim() === '' || !namePattern.test(name))
    return refuse('INVALID', ['input', 'name'], 'The name has 1 to 100 characters, all on one line.');
  if (cron.length > CRON_CHARACTERS_MAX)
    return refuse('LIMIT_EXCEEDED', ['input', 'cron'], `"cron" has at most ${CRON_CHARACTERS_MAX} characters.`);
  const problem = cronProblem(cron, now);
  if (problem !== undefined) return refuse('INVALID', ['input', 'cron'], problem);
  if (!isTimeZone(timeZone))
    return refuse('INVALID', ['input', 'timeZone'], 'The time zone is an IANA name, for example "Europe/Berlin".');
  if (until !== undefined && until <= now)
    return refuse('INVALID', ['input', 'until'], 'The end has passed; leave "until" out to run without an end.');
  if (job.startAt !== undefined)
    return refuse('INVALID', ['input', 'job', 'startAt'], 'Leave "startAt" out: the schedule says when a run starts.');
  const { refusal } = await previewLaterJob(deps, job, actor);
  return refusal && { ...refusal, path: ['input', 'job', ...refusal.path.slice(1)] };
}

/** As it is stored: narrowed to the devices of the actor for good. */
export function storedRequest(job: JobRequest | RolloutRequest, actor: Actor): RecurringRequest {
  return { ...job, devices: scopedFilter(job.devices, actor.devices) };
}

/** It was checked when it was saved, and is checked again with each run. */
export function jobRequestOf(request: RecurringRequest): JobRequest | RolloutRequest {
  return request as JobRequest | RolloutRequest;
}

/** Whether an edit leaves all as it is, except whether it is enabled. */
export function isSamePlan(former: RecurringJobPlan, { job, ...edit }: RecurringJobRequest, actor: Actor): boolean {
  return planHash(former) === planHash({ ...edit, request: storedRequest(job, actor) });
}

/** The API adds the defaults to a job, and an agent leaves them out. */
function planHash({ name, cron, timeZone, request, missed, overlap, until }: RecurringJobPlan): string {
  return requestHash({ name, cron, timeZone, job: { ...jobDefaults, ...request }, missed, overlap, until });
}
