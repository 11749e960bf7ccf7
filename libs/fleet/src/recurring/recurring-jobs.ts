/** Creates, changes, deletes and runs recurring jobs. The worker starts the runs that are due. */
import { hasMaskedSecret, MASK, maskAll } from '@flotilla/mcp';
import type { RecurringJobAnswer, RecurringJobRow, RecurringRequest, Registry } from '@flotilla/registry';
import { sourceOf } from '../actor.js';
import type { Actor } from '../actor.js';
import { refuseKey } from '../idempotency/refuse-key.js';
import { requestHash } from '../idempotency/request-hash.js';
import type { JobAnswer } from '../jobs/commands/create-job.js';
import type { PreviewJobDeps } from '../jobs/commands/preview-job.js';
import { keptDevices } from '../kept-devices.js';
import { newId } from '../new-id.js';
import { changedMeanwhile, refuse, withoutInput } from '../refusal.js';
import type { Refusal } from '../refusal.js';
import { refuseMasks, withStoredSecrets } from '../stored-secrets.js';
import { CronTimes } from './cron-times.js';
import { isSamePlan, refuseRecurringJob, storedRequest } from './recurring-request.js';
import type { RecurringJobRequest } from './recurring-request.js';
import { startRun } from './start-run.js';

export interface RecurringJobDeps extends PreviewJobDeps {
  readonly registry: PreviewJobDeps['registry'] & Pick<Registry, 'recurringJobs'>;
}

export type SavedRecurringJob = { readonly job: RecurringJobRow } | { readonly refusal: Refusal };

/** Recurring jobs of one hub: a worker looks at all that are due. */
const jobsMax = 500;

/** The same key with the same request returns the same recurring job. */
export async function createRecurringJob(
  deps: RecurringJobDeps,
  request: RecurringJobRequest,
  idempotencyKey: string,
  actor: Actor,
): Promise<SavedRecurringJob> {
  const refusal = refuseKey(idempotencyKey, ['idempotencyKey']) ?? (await refuseRecurringJob(deps, request, actor));
  if (refusal !== undefined) return { refusal };
  const { registry, clock } = deps;
  const at = clock.now();
  const row = {
    ...planOf(request, actor, at),
    id: newId(at),
    createdBy: actor.name,
    createdById: actor.id,
    idempotencyKey,
    requestHash: requestHash(request),
  };
  return saved(await registry.recurringJobs.create(row, { jobsMax, at, by: sourceOf(actor) }));
}

/**
 * Replaces all of it, of any revision if none is expected. From now on runs have the rights of
 * `actor`, except where the edit only switches it.
 */
export async function updateRecurringJob(
  deps: RecurringJobDeps,
  id: string,
  request: RecurringJobRequest,
  actor: Actor,
  expectedRevision?: string,
): Promise<SavedRecurringJob> {
  const { registry, clock } = deps;
  const former = await registry.recurringJobs.find(id);
  if (former === undefined || !mayChangeRecurringJob(former, actor)) return { refusal: refuseOther(id, former, actor) };
  const isExpected = (stored: RecurringJobRow) =>
    expectedRevision === undefined || recurringJobRevision(stored) === expectedRevision;
  // What is checked below would refuse masks of another revision for a wrong reason.
  if (!isExpected(former)) return { refusal: changedMeanwhile('recurring job') };
  const at = clock.now();
  const write = { at, by: sourceOf(actor), isExpected };
  if (await onlyDisablesLost(deps, former, request, actor)) {
    const off = { ...former, enabled: false, nextRunAt: undefined, keepsRequest: true };
    // The stored request must not get the rights of another person.
    const isSame = (stored: RecurringJobRow) => recurringJobRevision(stored) === recurringJobRevision(former);
    return saved(await registry.recurringJobs.update(off, { ...write, isExpected: isSame }), id);
  }
  const edit = await completedEdit(deps, former, request, actor);
  if ('refusal' in edit) return edit;
  const { completed, secretsById } = edit;
  const hasSamePlan = await leavesPlan(deps, former, completed, actor);
  // One that can no longer run can still be disabled.
  const refusal = hasSamePlan && !completed.enabled ? undefined : await refuseRecurringJob(deps, completed, actor);
  if (refusal !== undefined) return { refusal };
  // Enabling one that the hub paused is a save: the rights of who saved it may be gone.
  const isSwitch = hasSamePlan && (!completed.enabled || (!former.enabled && former.pausedReason === undefined));
  const { savedById, pausedReason } = isSwitch ? former : { savedById: actor.id, pausedReason: undefined };
  const change = { ...planOf(completed, actor, at), id, savedById, secretsById, pausedReason };
  return saved(await registry.recurringJobs.update(change, write), id);
}

/**
 * Another one after each change, also after the hub has paused it. Runs are no changes. The former
 * version does not know `secretsById`.
 */
export function recurringJobRevision(job: RecurringJobRow): string {
  return requestHash({ ...job, nextRunAt: undefined, secretsById: undefined });
}

/** The jobs that ran stay. */
export async function deleteRecurringJob(
  deps: RecurringJobDeps,
  id: string,
  actor: Actor,
): Promise<{ readonly refusal?: Refusal }> {
  const { recurringJobs } = deps.registry;
  const former = await recurringJobs.find(id);
  if (former === undefined || !mayChangeRecurringJob(former, actor)) return { refusal: refuseOther(id, former, actor) };
  const isRemoved = await recurringJobs.remove(id, { at: deps.clock.now(), by: sourceOf(actor) });
  return isRemoved ? {} : { refusal: noSuchJob(id) };
}

/** Starts a run now, with the rights of `actor`. The schedule stays as it is. */
export async function runRecurringJob(deps: RecurringJobDeps, id: string, actor: Actor): Promise<JobAnswer> {
  const { registry, clock } = deps;
  const found = await registry.recurringJobs.findRun(id);
  if (found === undefined || !mayChangeRecurringJob(found.job, actor))
    return { refusal: refuseOther(id, found?.job, actor) };
  const { job: recurring, request } = found;
  if (request === 'lost') return { refusal: secretsLost };
  const masked = await refuseStoredMasks(deps, request, actor);
  if (masked !== undefined) return { refusal: masked };
  const run = { request, key: `now:${newId(clock.now())}`, actor };
  const { former, ...answer } = await startRun(deps, recurring, run);
  if (former !== undefined)
    return { refusal: refuse('CONFLICT', ['id'], `Its former run is still under way: job ${former.id}.`) };
  return answer.refusal === undefined ? answer : { refusal: withoutInput(answer.refusal, ['id']) };
}

export const secretsLost = refuse(
  'CONFLICT',
  ['id'],
  'The secret arguments were encrypted with another key. Save the recurring job again with its arguments.',
);

/** Older versions of the hub stored the masks that a client sent. No run can send them. */
export async function refuseStoredMasks(
  { registry }: Pick<RecurringJobDeps, 'registry'>,
  { tool, arguments: stored = {} }: RecurringRequest,
  actor: Actor,
): Promise<Refusal | undefined> {
  if (tool === undefined) return undefined;
  const refusal = await refuseMasks(registry.toolSets, { tool, arguments: stored }, actor, ['id']);
  if (refusal === undefined) return undefined;
  const names = Object.keys(stored);
  const name =
    names.find((each) => hasMaskedSecret(tool, { [each]: stored[each] })) ??
    names.find((each) => stored[each] === MASK);
  const message =
    `The argument "${name ?? ''}" of the recurring job was saved as "${MASK}", without its value. ` +
    'Edit the recurring job: enter all arguments with their values.';
  return refuse('CONFLICT', ['id'], message);
}

/**
 * Whether an actor who may write jobs may also change, run or delete it. Limited keys change what
 * they created, until another saves it: it may cover other devices then.
 */
export function mayChangeRecurringJob({ createdById, savedById }: RecurringJobRow, actor: Actor): boolean {
  return actor.devices === undefined || (createdById === actor.id && savedById === actor.id);
}

/** A key still sees what it created: only for others it does not exist. */
function refuseOther(id: string, job: RecurringJobRow | undefined, actor: Actor): Refusal {
  if (job?.createdById !== actor.id) return noSuchJob(id);
  const message =
    'Another person or key saved this recurring job. ' +
    'A key that is limited to some devices cannot change, run or delete it then.';
  return refuse('CONFLICT', ['id'], message);
}

interface CompleteEdit {
  readonly completed: RecurringJobRequest;
  readonly secretsById: string;
}

/**
 * What is not shown stays: arguments behind masks, and the scope of a limited key that saved it.
 */
async function completedEdit(
  { registry }: RecurringJobDeps,
  former: RecurringJobRow,
  edit: RecurringJobRequest,
  actor: Actor,
): Promise<CompleteEdit | { readonly refusal: Refusal }> {
  const job = { ...edit.job, devices: keptDevices(edit.job.devices, former.request.devices, actor) };
  if (!('tool' in job)) return { completed: { ...edit, job }, secretsById: actor.id };
  const readStored = async () => {
    const stored = await registry.recurringJobs.requestOf(former.id);
    return stored === 'lost' ? stored : stored?.arguments;
  };
  const { tool = '', arguments: shown = {}, devices: formerDevices } = former.request;
  const saved = { secretsById: former.secretsById, tool, arguments: shown, devices: formerDevices, readStored };
  const { devices } = storedRequest(job, actor);
  const asked = { tool: job.tool, arguments: job.arguments, devices, actor, path: ['input', 'job', 'arguments'] };
  const answer = await withStoredSecrets(registry.toolSets, saved, asked);
  if ('refusal' in answer) return answer;
  const { arguments: whole, secretsById } = answer;
  return { completed: { ...edit, job: { ...job, arguments: whole } }, secretsById };
}

/** Whether it changes at most whether the recurring job is enabled. */
async function leavesPlan(
  { registry }: RecurringJobDeps,
  former: RecurringJobRow,
  edit: RecurringJobRequest,
  actor: Actor,
): Promise<boolean> {
  const stored = await registry.recurringJobs.requestOf(former.id);
  return typeof stored === 'object' && isSamePlan({ ...former, request: stored }, edit, actor);
}

/** Masks cannot stand for secrets that no process can read, but without them it can be disabled. */
async function onlyDisablesLost(
  { registry }: RecurringJobDeps,
  former: RecurringJobRow,
  edit: RecurringJobRequest,
  actor: Actor,
): Promise<boolean> {
  if (edit.enabled || (await registry.recurringJobs.requestOf(former.id)) !== 'lost') return false;
  const { request } = former;
  const asked = { ...edit, job: { ...edit.job, devices: keptDevices(edit.job.devices, request.devices, actor) } };
  // Those who may not call its tool see all arguments masked.
  const masked = { ...request, arguments: maskAll(request.arguments ?? {}) };
  return [request, masked].some((shown) => isSamePlan({ ...former, request: shown }, asked, actor));
}

function planOf({ job, ...plan }: RecurringJobRequest, actor: Actor, at: number) {
  const nextRunAt = plan.enabled ? new CronTimes(plan).next(at, plan.until) : undefined;
  return { ...plan, request: storedRequest(job, actor), nextRunAt };
}

function saved(answer: RecurringJobAnswer, id = ''): SavedRecurringJob {
  switch (answer.kind) {
    case 'saved':
    case 'repeat':
      return { job: answer.job };
    case 'NOT_FOUND':
      return { refusal: noSuchJob(id) };
    case 'OTHER_REVISION':
      return { refusal: changedMeanwhile('recurring job') };
    case 'NAME_TAKEN':
      return { refusal: refuse('CONFLICT', ['input', 'name'], 'Another recurring job has this name.') };
    case 'CONFLICT':
      return {
        refusal: refuse('IDEMPOTENCY_KEY_REUSED', ['idempotencyKey'], 'The key was used for another recurring job.'),
      };
    case 'FULL':
      return {
        refusal: refuse('LIMIT_EXCEEDED', [], `There are ${jobsMax} recurring jobs; delete one that is not needed.`),
      };
  }
}

function noSuchJob(id: string): Refusal {
  return refuse('NOT_FOUND', ['id'], `There is no recurring job "${id.slice(0, 100)}".`);
}
