/**
 * Reverts a roll-out: creates new roll-outs to the versions that its devices ran before, one per
 * image.
 */
import type { Job } from '@flotilla/jobs';
import type { NewJob, RevertGroup, Registry } from '@flotilla/registry';
import type { Actor } from '../actor.js';
import { idempotencyKeyLengthMax, refuseKey } from '../idempotency/refuse-key.js';
import { planJob, writeJobs } from '../jobs/commands/create-job.js';
import type { CreateJobDeps, JobAnswer } from '../jobs/commands/create-job.js';
import { seenBy } from '../jobs/commands/rerun-job.js';
import { requestHash } from '../idempotency/request-hash.js';
import { refuse, withoutInput } from '../refusal.js';
import type { Refusal } from '../refusal.js';
import type { RolloutRequest } from './rollout-request.js';

interface RevertJobDeps extends CreateJobDeps {
  readonly registry: CreateJobDeps['registry'] & Pick<Registry, 'rollouts'>;
}

/** `job` has the most devices; `others` are there where devices go back to different images. */
export interface RevertAnswer extends JobAnswer {
  readonly others?: readonly Job[];
}

/** Different images that one revert may take. */
const imagesMax = 20;

export async function revertJob(
  deps: RevertJobDeps,
  id: string,
  idempotencyKey: string,
  actor: Actor,
): Promise<RevertAnswer> {
  const { jobs, rollouts } = deps.registry.viewFor(actor);
  const invalidKey = refuseKey(idempotencyKey, ['idempotencyKey']);
  if (invalidKey !== undefined) return { refusal: invalidKey };
  // A repeated key returns the same jobs, although their devices may have gone back since.
  const repeated = await findEarlier(deps, id, idempotencyKey, actor);
  if (repeated !== undefined) return repeated;
  const former = await jobs.find(id);
  if (former === undefined) return { refusal: refuse('NOT_FOUND', ['id'], `There is no job "${id}".`) };
  if (former.firmwareImageId === undefined || former.verification !== 'FIRMWARE')
    return { refusal: refuse('CONFLICT', ['id'], 'Only a roll-out of a firmware image can be reverted.') };
  const groups = await rollouts.revertGroups(former.id);
  const refusal = refuseRevert(former, groups);
  if (refusal !== undefined) return { refusal };
  const origin = { actor, idempotencyKey, parentJobId: former.id, requestHash: hashOf(id) };
  const rows: NewJob[] = [];
  for (const [index, image] of imagesOf(groups).entries()) {
    const planned = await planJob(deps, requestOf(former, image, actor), origin);
    if ('row' in planned) rows.push({ ...planned.row, idempotencyKey: keyOf(idempotencyKey, index) });
    else if (planned.job === undefined) return asRevert(planned);
    // Another request with the same key was faster: its jobs are the answer.
    else return (await findEarlier(deps, id, idempotencyKey, actor)) ?? asRevert(planned);
  }
  const [first, ...others] = await writeJobs(deps, rows, actor);
  if (first?.job === undefined) return asRevert({ ...first });
  const further = others.flatMap(({ job }) => job ?? []);
  if (further.length + 1 < rows.length) return (await findEarlier(deps, id, idempotencyKey, actor)) ?? {};
  return { job: first.job, others: further };
}

/** The former job says what the new ones are. */
function asRevert(answer: JobAnswer): JobAnswer {
  return answer.refusal === undefined ? answer : { refusal: withoutInput(answer.refusal, ['id']) };
}

function requestOf(
  former: Job,
  { imageId, version }: { readonly imageId: string; readonly version: string },
  actor: Actor,
): RolloutRequest {
  return {
    name: `Back to ${version}`,
    firmwareImageId: imageId,
    devices: { revertOf: { jobId: former.id, version, imageId, ...seenBy(actor, former) } },
    maxInFlight: former.maxInFlight,
    priority: former.priority,
    // The way back must not be stopped by what the roll-out has broken.
    abort: [],
    ...(former.perMinute === undefined ? {} : { perMinute: former.perMinute }),
  };
}

/** All jobs of an earlier request with this key, or a refusal; undefined where the key is new. */
async function findEarlier(
  { registry }: RevertJobDeps,
  id: string,
  idempotencyKey: string,
  actor: Actor,
): Promise<RevertAnswer | undefined> {
  const made: Job[] = [];
  for (let index = 0; index < imagesMax; index += 1) {
    const key = keyOf(idempotencyKey, index);
    const earlier = await registry.jobCommands.earlier({
      createdById: actor.id,
      idempotencyKey: key,
      requestHash: hashOf(id),
    });
    if (earlier?.kind === 'conflict')
      return { refusal: refuse('IDEMPOTENCY_KEY_REUSED', ['idempotencyKey'], 'The key was used for another job.') };
    if (earlier === undefined) break;
    made.push(earlier.job);
  }
  const [job, ...others] = made;
  return job && { job, others };
}

function hashOf(id: string): string {
  return requestHash({ revertOf: id.toLowerCase() });
}

function refuseRevert({ state }: Job, groups: readonly RevertGroup[]): Refusal | undefined {
  if (state === 'RUNNING' || state === 'PREPARING')
    return refuse('CONFLICT', ['id'], `The job is ${state} and would send the image again. Pause or cancel it first.`);
  const lost = groups.find(({ imageId }) => imageId === undefined);
  if (lost !== undefined) {
    const board = lost.model ?? 'without a name';
    return refuse(
      'CONFLICT',
      ['id'],
      `${lost.count} devices of the board ${board} had ${lost.version}: publish an image of it for them first.`,
    );
  }
  if (groups.length === 0)
    return refuse('CONFLICT', ['id'], 'No device runs the image of this job that had another version before.');
  if (imagesOf(groups).length <= imagesMax) return undefined;
  return refuse('LIMIT_EXCEEDED', ['id'], `The devices had more than ${imagesMax} different images before.`);
}

/** Most devices first: an image may be published for several boards. */
function imagesOf(groups: readonly RevertGroup[]): readonly { readonly imageId: string; readonly version: string }[] {
  const images = new Map<string, { readonly imageId: string; readonly version: string }>();
  for (const { imageId, version } of groups)
    if (imageId !== undefined && !images.has(imageId)) images.set(imageId, { imageId, version });
  return [...images.values()];
}

/** Keys of the further jobs are longer than any that a caller can give, so they never collide. */
function keyOf(idempotencyKey: string, index: number): string {
  return index === 0 ? idempotencyKey : `${index + 1} ${idempotencyKey} `.padEnd(idempotencyKeyLengthMax + 1, '.');
}
