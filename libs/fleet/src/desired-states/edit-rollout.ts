/**
 * Rolls an edit out by an ordinary job. The API starts it; the worker starts it again if the
 * process of the API died in between, with the same idempotency key.
 */
import { jobLifeMsMax } from '@flotilla/jobs';
import type { DailyWindow } from '@flotilla/jobs';
import type { JobId } from '@flotilla/mcp';
import type { DesiredStateRow, Registry } from '@flotilla/registry';
import type { Actor } from '../actor.js';
import type { FleetLogger } from '../fleet-logger.js';
import { createFrom } from '../jobs/commands/create-job.js';
import type { CreateJobDeps } from '../jobs/commands/create-job.js';
import type { JobRequest } from '../jobs/commands/job-request.js';
import { cancelJob } from '../jobs/commands/steer-job.js';
import type { SteerJobDeps } from '../jobs/commands/steer-job.js';

interface RolloutStartDeps extends CreateJobDeps, SteerJobDeps {
  readonly registry: CreateJobDeps['registry'] & SteerJobDeps['registry'] & Pick<Registry, 'desiredStateStore'>;
  readonly logger: FleetLogger;
  /** IANA name, for windows without a zone. */
  readonly timeZone: string;
}

/** Whether its newest generation still has to be rolled out by a job that does not exist yet. */
export function needsRollout({ enabled, generation, mode, rolloutJobId, settledGeneration }: DesiredStateRow): boolean {
  return enabled && mode === 'ENFORCE' && settledGeneration < generation && rolloutJobId === undefined;
}

/**
 * The id of the job, which goes on with what `expired` has not reached. Undefined where none is
 * needed, or it was refused: the worker tries again.
 */
export async function startRollout(
  deps: RolloutStartDeps,
  state: DesiredStateRow,
  actor: Actor,
  expired?: JobId,
): Promise<string | undefined> {
  const { id, generation, name, tool, maxInFlight, perMinute, waves, abort, window } = state;
  if (!needsRollout(state) && expired === undefined) return undefined;
  const args = await deps.registry.desiredStateStore.argumentsOf(id, generation);
  if (args === undefined || args === 'lost') return undefined;
  const unreached = expired && { targetsOf: { jobId: expired, outcomes: ['EXPIRED'] as const } };
  const request: JobRequest = {
    name: `${name.slice(0, 150)} (generation ${generation})`,
    tool,
    arguments: args,
    maxInFlight,
    offline: 'SKIP',
    verification: 'READBACK',
    skipIfSatisfied: true,
    // A weekly window or a low pace needs many days.
    devices: { ...state.devices, ...unreached },
    expiresInSeconds: jobLifeMsMax / 1_000,
    ...(perMinute === undefined ? {} : { perMinute }),
    ...(waves && { waves }),
    ...(abort && { abort }),
    ...(window && { window: jobWindow(window, deps.timeZone) }),
  };
  const origin = {
    idempotencyKey: `desired-state:${id}:${generation}:${expired ?? state.editedAt}`,
    actor: { ...actor, name: `desired-state:${name}`, devices: undefined },
  };
  const { job, refusal } = await createFrom(deps, request, origin);
  if (job === undefined) {
    deps.logger.warn(
      { desiredStateId: id, generation, refusal },
      'could not start the roll-out of an edit; tries again',
    );
    return undefined;
  }
  if (await deps.registry.desiredStateStore.startRollout(state, job.id)) return job.id;
  // It was edited, disabled or deleted meanwhile, by someone who saw no job to cancel.
  await cancelJob(deps, job.id, false, origin.actor);
  return undefined;
}

/** A job has one zone. Without one it uses that of the hub. */
function jobWindow({ from, to, zone, days }: NonNullable<DesiredStateRow['window']>, own: string): DailyWindow {
  return { from, to, zone: zone ?? own, ...(days && { days }) };
}
