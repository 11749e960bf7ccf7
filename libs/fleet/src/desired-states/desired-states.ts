/** Creates, changes and deletes desired states. The worker keeps them true. */
import type { JobId } from '@flotilla/mcp';
import { scopedFilter } from '@flotilla/registry';
import type { DesiredStateAnswer, DesiredStateRow, EventType, Registry } from '@flotilla/registry';
import { sourceOf } from '../actor.js';
import type { Actor } from '../actor.js';
import { FleetError } from '../fleet-error.js';
import { refuseKey } from '../idempotency/refuse-key.js';
import { requestHash } from '../idempotency/request-hash.js';
import type { CreateJobDeps } from '../jobs/commands/create-job.js';
import { refuseTool } from '../jobs/commands/refuse-tool.js';
import { cancelJob } from '../jobs/commands/steer-job.js';
import type { PreviewJobDeps } from '../jobs/commands/preview-job.js';
import { keptDevices } from '../kept-devices.js';
import { newId } from '../new-id.js';
import { currentActor } from '../recurring/current-actor.js';
import type { CallerLookUps } from '../recurring/current-actor.js';
import { refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';
import { withStoredSecrets } from '../stored-secrets.js';
import type { CompleteArguments } from '../stored-secrets.js';
import { writeEvent } from '../write-event.js';
import type { EventDeps } from '../write-event.js';
import { checkDesiredState } from './desired-state-request.js';
import type { DesiredStateRequest } from './desired-state-request.js';
import { startRollout } from './edit-rollout.js';

export interface DesiredStateDeps extends PreviewJobDeps {
  readonly registry: PreviewJobDeps['registry'] &
    CallerLookUps &
    Pick<Registry, 'desiredStateStore' | 'desiredStates' | 'events'>;
  /** IANA name, for windows without a zone. */
  readonly timeZone: string;
}

export type SavedState = { readonly state: DesiredStateRow } | { readonly refusal: Refusal };

/** Desired states of one hub: each batch of devices is compared with the filters of all. */
const statesMax = 200;

/** The same key with the same request returns the same desired state. */
export async function createDesiredState(
  deps: DesiredStateDeps,
  asked: DesiredStateRequest,
  idempotencyKey: string,
  actor: Actor,
): Promise<SavedState> {
  requireTools(actor);
  const invalidKey = refuseKey(idempotencyKey, ['idempotencyKey']);
  if (invalidKey !== undefined) return { refusal: invalidKey };
  const request = { ...asked, enabled: asked.enabled ?? true };
  const checked = await checkDesiredState(deps, request, actor);
  if ('refusal' in checked) return checked;
  const { registry, clock } = deps;
  const at = clock.now();
  const plan = {
    ...request,
    devices: scopedFilter(request.devices, actor.devices),
    id: newId(at),
    ...checked,
    savedById: actor.id,
    secretsById: actor.id,
    createdBy: actor.name,
    idempotencyKey,
    requestHash: requestHash(request),
  };
  const answer = await registry.desiredStateStore.create(plan, { statesMax, at, by: sourceOf(actor) });
  return afterSave(deps, answer, { actor, saver: actor });
}

/** Replaces all that the request names. From now on its calls have the rights of `actor`. */
export async function updateDesiredState(
  deps: DesiredStateDeps,
  id: string,
  expectedGeneration: number,
  request: DesiredStateRequest,
  actor: Actor,
): Promise<SavedState> {
  requireTools(actor);
  const former = await ownState(deps, id, actor);
  if (former === undefined) return { refusal: noSuchState(id) };
  const completed = await completedEdit(deps, former, request, actor);
  if ('refusal' in completed) return completed;
  const checked = await checkDesiredState(deps, completed, actor);
  if ('refusal' in checked) return checked;
  const at = deps.clock.now();
  const devices = scopedFilter(completed.devices, actor.devices);
  const plan = { ...completed, devices, id, ...checked, savedById: actor.id };
  const change = { at, by: sourceOf(actor) };
  const answer = await deps.registry.desiredStateStore.update(plan, expectedGeneration, change);
  if (answer.kind === 'saved') await stopRollout(deps, answer.formerJobId, actor);
  return afterSave(deps, answer, { actor, saver: actor }, id);
}

/**
 * A disabled one has no entries and sends nothing. Its calls and roll-outs have the rights of the
 * last person who saved it. Therefore, enabling it needs the right to call its tool.
 */
export async function setDesiredStateEnabled(
  deps: DesiredStateDeps,
  id: string,
  enabled: boolean,
  actor: Actor,
): Promise<SavedState> {
  requireTools(actor);
  const former = await ownState(deps, id, actor);
  if (former === undefined) return { refusal: noSuchState(id) };
  const refusal = enabled ? await refuseTool(deps, former.tool, actor, ['id']) : undefined;
  if (refusal !== undefined) return { refusal };
  const change = { at: deps.clock.now(), by: sourceOf(actor) };
  const answer = await deps.registry.desiredStateStore.setEnabled(id, enabled, change);
  if (answer.kind === 'saved') await stopRollout(deps, answer.formerJobId, actor);
  // Another person may have saved it after it was read above.
  const saver = enabled && 'state' in answer ? await currentSaver(deps, answer.state, change.at) : undefined;
  return afterSave(deps, answer, { actor, saver }, id);
}

/** Undefined where the person or key may not call tools any more: the worker pauses it. */
async function currentSaver(
  { registry }: DesiredStateDeps,
  { savedById }: DesiredStateRow,
  now: number,
): Promise<Actor | undefined> {
  const current = await currentActor(registry, savedById, now);
  return 'actor' in current && current.actor.mayCallTools !== false ? current.actor : undefined;
}

/** Each device keeps its value. */
export async function deleteDesiredState(
  deps: DesiredStateDeps,
  id: string,
  actor: Actor,
): Promise<{ readonly refusal?: Refusal }> {
  requireTools(actor);
  if ((await ownState(deps, id, actor)) === undefined) return { refusal: noSuchState(id) };
  const removed = await deps.registry.desiredStateStore.remove(id, { at: deps.clock.now(), by: sourceOf(actor) });
  if (removed === undefined) return { refusal: noSuchState(id) };
  await stopRollout(deps, removed.rolloutJobId, actor);
  deps.bus.feed.publish('desiredState', { id });
  return {};
}

/** About all of its devices. */
export function writeDesiredStateEvent(
  deps: EventDeps,
  type: EventType,
  { id, name, generation }: DesiredStateRow,
  more: Readonly<Record<string, unknown>> = {},
): void {
  writeEvent(deps, type, undefined, { desiredStateId: id, name, generation, ...more });
}

/**
 * Whether an actor who may write jobs may also change or delete the desired state. Limited keys
 * change what they created, until another saves it for what may be other devices.
 */
export function mayChangeDesiredState(state: DesiredStateRow, actor: Actor): boolean {
  return mayUseTools(actor) && isOwn(state, actor);
}

function isOwn({ createdById, savedById }: DesiredStateRow, { id, devices }: Actor): boolean {
  return devices === undefined || (createdById === id && savedById === id);
}

function mayUseTools({ mayCallTools }: Actor): boolean {
  return mayCallTools !== false;
}

function requireTools(actor: Actor): void {
  if (!mayUseTools(actor))
    throw new FleetError(
      'FORBIDDEN',
      'A desired state calls a tool: it needs the scope TOOLS_CALL, which you do not have.',
    );
}

/** Undefined for one that the actor may not change. */
export async function ownState(
  { registry }: DesiredStateDeps,
  id: string,
  actor: Actor,
): Promise<DesiredStateRow | undefined> {
  const state = await registry.desiredStateStore.find(id);
  return state && isOwn(state, actor) ? state : undefined;
}

/**
 * What is not shown stays: arguments behind masks, and the scope of a limited key that saved it.
 */
export async function completedEdit(
  { registry }: DesiredStateDeps,
  former: DesiredStateRow,
  edit: DesiredStateRequest,
  actor: Actor,
): Promise<(DesiredStateRequest & CompleteArguments) | { readonly refusal: Refusal }> {
  const request = { ...edit, devices: keptDevices(edit.devices, former.devices, actor) };
  const readStored = () => registry.desiredStateStore.argumentsOf(former.id, former.generation);
  const { tool, arguments: given } = request;
  const devices = scopedFilter(request.devices, actor.devices);
  const asked = { tool, arguments: given, devices, actor, path: ['input', 'arguments'] };
  const completed = await withStoredSecrets(registry.toolSets, { ...former, readStored }, asked);
  return 'refusal' in completed ? completed : { ...request, ...completed };
}

async function stopRollout(
  deps: CreateJobDeps & DesiredStateDeps,
  rolloutJobId: string | undefined,
  actor: Actor,
): Promise<void> {
  if (rolloutJobId !== undefined) await cancelJob(deps, rolloutJobId as JobId, false, { ...actor, devices: undefined });
}

async function afterSave(
  deps: DesiredStateDeps,
  answer: DesiredStateAnswer,
  { actor, saver }: { readonly actor: Actor; readonly saver: Actor | undefined },
  id = '',
): Promise<SavedState> {
  if (!('state' in answer)) return { refusal: refusalOf(answer.kind, id) };
  if (answer.kind === 'repeat') return { state: answer.state };
  const { state } = answer;
  const rolloutJobId = saver && (await startRollout(deps, state, saver));
  writeDesiredStateEvent(deps, 'desired_state.edited', state, { enabled: state.enabled, by: actor.name });
  deps.bus.feed.publish('desiredState', { id: state.id });
  return { state: rolloutJobId === undefined ? state : { ...state, rolloutJobId } };
}

function refusalOf(kind: Exclude<DesiredStateAnswer['kind'], 'saved' | 'repeat'>, id: string): Refusal {
  switch (kind) {
    case 'NOT_FOUND':
      return noSuchState(id);
    case 'NAME_TAKEN':
      return refuse('CONFLICT', ['input', 'name'], 'Another desired state has this name.');
    case 'CONFLICT':
      return refuse('IDEMPOTENCY_KEY_REUSED', ['idempotencyKey'], 'The key was used for another desired state.');
    case 'OTHER_GENERATION':
      return refuse(
        'CONFLICT',
        ['expectedGeneration'],
        'It was edited meanwhile. Read it again, and apply your change to the current generation.',
      );
    case 'PAUSED':
      return refuse(
        'CONFLICT',
        ['id'],
        'The hub paused it, because who saved it may no longer call tools. Save it again to use your rights.',
      );
    case 'FULL':
      return refuse('LIMIT_EXCEEDED', [], `There are ${statesMax} desired states; delete one that is not needed.`);
  }
}

function noSuchState(id: string): Refusal {
  return refuse('NOT_FOUND', ['id'], `There is no desired state "${id.slice(0, 100)}" that you may change.`);
}
