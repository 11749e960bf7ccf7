/** Starts one run of a recurring job, and applies its overlap to runs that are under way. */
import { liveJobsMax } from '@flotilla/jobs';
import type { Job, JobState } from '@flotilla/jobs';
import type { RecurringJobRow, RecurringRequest } from '@flotilla/registry';
import type { Actor } from '../actor.js';
import { planJob, writeJobs } from '../jobs/commands/create-job.js';
import type { WrittenJob } from '../jobs/commands/create-job.js';
import { cancelJob } from '../jobs/commands/steer-job.js';
import { refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';
import type { RecurringJobDeps } from './recurring-jobs.js';
import { jobRequestOf } from './recurring-request.js';

interface AskedRun {
  readonly request: RecurringRequest;
  /** The same key never makes a second job. */
  readonly key: string;
  readonly actor: Actor;
}

/** Attempts while other runs begin at the same moment. Few do. */
const triesMax = 10;

const unfinished: readonly JobState[] = [
  'AWAITING_APPROVAL',
  'SCHEDULED',
  'PREPARING',
  'RUNNING',
  'PAUSED',
  'CANCELLING',
];

/** `former`: with the overlap SKIP, the run that is still under way. No job was created then. */
export async function startRun(
  deps: RecurringJobDeps,
  recurring: RecurringJobRow,
  { request, key, actor }: AskedRun,
): Promise<WrittenJob> {
  // Read first: what another worker creates for the same key meanwhile is not a former run.
  let formers = await runsUnderWay(deps, recurring.id);
  const by = { ...actor, name: `recurring:${recurring.name}` };
  const job = jobRequestOf(request);
  const planned = await planJob(
    deps,
    { ...job, name: job.name ?? recurring.name },
    { idempotencyKey: keyOf(recurring, key), actor: by, recurringJobId: recurring.id },
  );
  if ('job' in planned) return planned;
  const isSkipped = recurring.overlap === 'SKIP';
  if (isSkipped && formers[0] !== undefined) return { former: formers[0] };
  // A run that cannot start cancels nothing.
  if (!('row' in planned)) return planned;
  for (let tries = 0; tries < triesMax; tries += 1) {
    for (const former of formers) {
      const refusal = await cancelFormer(deps, former, actor);
      if (refusal !== undefined) return { refusal };
    }
    const row = { ...planned.row, besideRuns: formers.map(({ id }) => id) };
    const [written = {}] = await writeJobs(deps, [row], by);
    // Another run that began meanwhile is a former one as well.
    if (written.former === undefined || isSkipped) return written;
    formers = await runsUnderWay(deps, recurring.id);
  }
  return { refusal: refuse('CONFLICT', ['id'], 'Its runs are started too fast; try again.') };
}

/** Whether this run has a job already, such as from a worker that was killed after it made it. */
export async function hasStarted(
  { registry }: RecurringJobDeps,
  recurring: RecurringJobRow,
  { key, actor }: Pick<AskedRun, 'key' | 'actor'>,
): Promise<boolean> {
  // The key alone names the run, so the hash of the request does not matter.
  const used = { createdById: actor.id, idempotencyKey: keyOf(recurring, key), requestHash: '' };
  return (await registry.jobCommands.earlier(used)) !== undefined;
}

function keyOf({ id }: RecurringJobRow, key: string): string {
  return `recurring:${id}:${key}`;
}

/** The latest first; also those that were started besides the schedule. */
async function runsUnderWay({ registry }: RecurringJobDeps, recurringJobId: string): Promise<readonly Job[]> {
  return (await registry.jobs.page({ recurringJobId, states: unfinished }, { first: liveJobsMax })).rows;
}

async function cancelFormer(deps: RecurringJobDeps, { id, state }: Job, actor: Actor): Promise<Refusal | undefined> {
  if (state === 'CANCELLING') return undefined;
  const { refusal } = await cancelJob(deps, id, false, actor);
  return refusal && { ...refusal, message: `The former run, job ${id}, was not cancelled. ${refusal.message}` };
}
