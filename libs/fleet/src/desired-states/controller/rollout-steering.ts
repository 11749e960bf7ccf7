/** Roll-outs of edits: starts one that the API could not start, and settles one that has ended. */
import type { JobProgress } from '@flotilla/jobs';
import { PolicyCache } from '../../policies/policy-cache.js';
import { needsRollout, startRollout } from '../edit-rollout.js';
import type { DesiredStateRunnerDeps } from './controller-deps.js';
import type { LiveState } from './live-state.js';

const endsRollout: ReadonlySet<string> = new Set(['SUCCEEDED', 'PARTIAL', 'FAILED']);

/** Devices that a stopped or expired roll-out has not reached keep the former generation. */
const hasReachedAll = (progress: JobProgress | undefined): boolean =>
  progress !== undefined && progress.expired + progress.cancelled === 0;

/** Returns whether a roll-out began. A refused one is tried again with the next sweep. */
export async function steerRollout(deps: DesiredStateRunnerDeps, live: LiveState): Promise<boolean> {
  const { bus, registry } = deps;
  const { row, rolloutJobId } = live;
  if (needsRollout(row))
    return (await startRollout({ ...deps, policies: currentPolicies(deps) }, row, live.actor)) !== undefined;
  if (rolloutJobId === undefined) return false;
  const job = await registry.jobs.find(rolloutJobId);
  const hasEnded =
    job?.state === 'FINISHED' &&
    endsRollout.has(job.conclusion ?? '') &&
    hasReachedAll((await registry.jobs.progress([job.id])).get(job.id));
  if (hasEnded && (await registry.desiredStateStore.settleRollout(row.id, row.generation)))
    bus.feed.publish('desiredState', { id: row.id });
  return false;
}

/** Policies as they are now: a roll-out is rare, and a job keeps a copy of its policy. */
function currentPolicies({ clock, registry }: DesiredStateRunnerDeps): PolicyCache {
  return new PolicyCache(registry.toolPolicies, clock, { subscribe: () => () => undefined });
}
