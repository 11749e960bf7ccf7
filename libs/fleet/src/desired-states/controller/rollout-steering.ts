/**
 * Roll-outs of edits: starts one that the API could not start, goes on where one ran out of time,
 * and settles one that has ended.
 */
import { judgeGate } from '@flotilla/jobs';
import type { Job, JobProgress } from '@flotilla/jobs';
import type { JobId } from '@flotilla/mcp';
import { PolicyCache } from '../../policies/policy-cache.js';
import { needsRollout, startRollout } from '../edit-rollout.js';
import type { DesiredStateRunnerDeps } from './controller-deps.js';
import type { LiveState } from './live-state.js';

const endsRollout: ReadonlySet<string> = new Set(['SUCCEEDED', 'PARTIAL', 'FAILED']);

/** Devices that a stopped or expired roll-out has not reached keep the former generation. */
const hasReachedAll = (progress: JobProgress | undefined): boolean =>
  progress !== undefined && progress.expired + progress.cancelled === 0;

const isLeft = (progress: JobProgress | undefined): boolean => progress !== undefined && progress.expired > 0;

const mayGoOn: ReadonlySet<string> = new Set(['EXPIRED', 'PARTIAL', 'FAILED']);

/** False where the job waited at a gate. */
async function hasRunOut({ registry }: DesiredStateRunnerDeps, job: Job): Promise<boolean> {
  const { id, conclusion, currentWave, expiresAt, trippedRule } = job;
  if (trippedRule !== undefined || !mayGoOn.has(conclusion ?? '')) return false;
  const [waves = []] = await registry.jobs.waves([id]);
  const wave = waves.find(({ number }) => number === currentWave);
  if (wave === undefined || wave.number === waves.length) return true;
  const [byWave] = await registry.jobs.waveProgress([id]);
  const progress = byWave?.get(wave.number);
  if (progress === undefined) return true;
  const lastDecidedAt = await registry.targetPreparation.lastDecidedAt({ jobId: id }, wave.number);
  const atEnd = { ...progress, pending: progress.pending + progress.expired };
  const gate = judgeGate(wave, atEnd, {
    now: expiresAt,
    lastDecidedAt: lastDecidedAt ?? expiresAt,
    // All targets are decided, so no device is waited for.
    stragglerAfterMs: 0,
  });
  return gate.kind !== 'hold';
}

/** Returns whether a roll-out began. A refused one is tried again with the next sweep. */
export async function steerRollout(deps: DesiredStateRunnerDeps, live: LiveState): Promise<boolean> {
  const { bus, registry } = deps;
  const { row, rolloutJobId } = live;
  const begin = async (expired?: JobId): Promise<boolean> => {
    const policies = currentPolicies(deps);
    if ((await startRollout({ ...deps, policies }, row, live.actor, expired)) === undefined) return false;
    bus.feed.publish('desiredState', { id: row.id });
    return true;
  };
  if (needsRollout(row)) return begin();
  if (rolloutJobId === live.heldJobId) return false;
  const job = rolloutJobId && (await registry.jobs.find(rolloutJobId));
  if (job?.state !== 'FINISHED') return false;
  const progress = (await registry.jobs.progress([job.id])).get(job.id);
  if (!endsRollout.has(job.conclusion ?? '') || !hasReachedAll(progress)) {
    if (isLeft(progress) && (await hasRunOut(deps, job))) return begin(job.id);
    live.heldJobId = job.id;
    return false;
  }
  if (await registry.desiredStateStore.settleRollout(row.id, row.generation))
    bus.feed.publish('desiredState', { id: row.id });
  return false;
}

/** Policies as they are now: a roll-out is rare, and a job keeps a copy of its policy. */
function currentPolicies({ clock, registry }: DesiredStateRunnerDeps): PolicyCache {
  return new PolicyCache(registry.toolPolicies, clock, { subscribe: () => () => undefined });
}
