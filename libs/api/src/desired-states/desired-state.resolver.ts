import { Inject } from '@nestjs/common';
import { Mutation, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { mayChangeDesiredState, type SavedState } from '@flotilla/fleet';
import { isScopedFilter, type DesiredStateEditRow, type DesiredStateRow } from '@flotilla/registry';
import { hasScopeFor } from '../access/required-scopes.js';
import { actorOf, type ApiContext } from '../api-context.js';
import { FLEET } from '../api-deps.js';
import { MissingScopes } from '../calls/missing-scopes.js';
import { shownArguments, type Reader } from '../calls/shown-arguments.js';
import { pageRequest, pageSize, toConnection, type Connection } from '../connection.js';
import { shownDeviceFilter } from '../devices/shown-device-filter.js';
import { userErrors } from '../errors/user-errors.js';
import type { FleetOperations } from '../fleet-operations.js';
import type {
  DesiredStateEditsArgs,
  DesiredStateEditsConnectionArgs,
  DesiredStatePreview,
  DesiredStateSummary,
  DesiredStateTargetsArgs,
  MutationCreateDesiredStateArgs,
  MutationDeleteDesiredStateArgs,
  MutationSetDesiredStateEnabledArgs,
  MutationUpdateDesiredStateArgs,
  QueryDesiredStateArgs,
  QueryDesiredStatesArgs,
  QueryPreviewDesiredStateArgs,
} from '../generated/schema-types.js';
import type { Serves } from '../serves.js';
import { parseDesiredState } from './desired-state-input.js';
import { summaryOf } from './summary-of.js';

/** Edits of one answer. */
const EDITS_MAX = 50;
/** The rows of a preview become devices and desired states by their own resolvers. */
type ShownPreview = Omit<DesiredStatePreview, '__typename' | 'conflicts' | 'sample'> & {
  readonly conflicts: readonly unknown[];
  readonly sample: readonly unknown[];
};

@Resolver('DesiredState')
export class DesiredStateResolver
  implements
    Serves<'Query', 'desiredState' | 'desiredStates'>,
    Serves<
      'DesiredState',
      'arguments' | 'devices' | 'isLimited' | 'targets' | 'rollout' | 'viewerMayChange' | 'enableScopeMissing'
    >,
    Serves<'Mutation', 'createDesiredState' | 'updateDesiredState' | 'setDesiredStateEnabled' | 'deleteDesiredState'>
{
  readonly #missing: MissingScopes;

  constructor(@Inject(FLEET) private readonly fleet: FleetOperations) {
    this.#missing = new MissingScopes(fleet);
  }

  @Query()
  desiredState(_root: unknown, { id }: QueryDesiredStateArgs, { view }: ApiContext) {
    return view.desiredStates.find(id);
  }

  @Query()
  async desiredStates(_root: unknown, args: QueryDesiredStatesArgs, { view }: ApiContext) {
    const [page, totalCount] = await Promise.all([
      view.desiredStates.page(pageRequest(args)),
      view.desiredStates.count(),
    ]);
    return Object.assign(toConnection(page), { totalCount });
  }

  @Query()
  async previewDesiredState(
    _root: unknown,
    { input, id }: QueryPreviewDesiredStateArgs,
    context: ApiContext,
  ): Promise<ShownPreview> {
    const { refusal, ...preview } = await this.fleet.previewDesiredState(
      parseDesiredState(input),
      actorOf(context),
      id ?? undefined,
    );
    return { ...preview, userErrors: userErrors(refusal) };
  }

  @Mutation()
  async createDesiredState(
    _root: unknown,
    { input, idempotencyKey }: MutationCreateDesiredStateArgs,
    context: ApiContext,
  ) {
    return toPayload(await this.fleet.createDesiredState(parseDesiredState(input), idempotencyKey, actorOf(context)));
  }

  @Mutation()
  async updateDesiredState(
    _root: unknown,
    { id, expectedGeneration, input }: MutationUpdateDesiredStateArgs,
    context: ApiContext,
  ) {
    const request = parseDesiredState(input);
    return toPayload(await this.fleet.updateDesiredState(id, expectedGeneration, request, actorOf(context)));
  }

  @Mutation()
  async setDesiredStateEnabled(
    _root: unknown,
    { id, enabled }: MutationSetDesiredStateEnabledArgs,
    context: ApiContext,
  ) {
    return toPayload(await this.fleet.setDesiredStateEnabled(id, enabled, actorOf(context)));
  }

  @Mutation()
  async deleteDesiredState(_root: unknown, { id }: MutationDeleteDesiredStateArgs, context: ApiContext) {
    const { refusal } = await this.fleet.deleteDesiredState(id, actorOf(context));
    return refusal ? { userErrors: userErrors(refusal) } : { deletedId: id, userErrors: [] };
  }

  @ResolveField()
  devices({ devices }: DesiredStateRow, _args: unknown, context: ApiContext) {
    return shownDeviceFilter(devices, context);
  }

  @ResolveField()
  isLimited({ devices }: DesiredStateRow) {
    return isScopedFilter(devices);
  }

  @ResolveField()
  viewerMayChange(state: DesiredStateRow, _args: unknown, context: ApiContext) {
    return hasScopeFor(context.viewer, 'updateDesiredState') && mayChangeDesiredState(state, actorOf(context));
  }

  @ResolveField()
  enableScopeMissing({ tool }: DesiredStateRow, _args: unknown, context: ApiContext) {
    return this.#missing.of(tool, context);
  }

  @ResolveField()
  arguments(state: DesiredStateRow, _args: unknown, context: ApiContext) {
    return shownArguments(state, context);
  }

  @ResolveField()
  async summary(state: DesiredStateRow, _args: unknown, { loaders }: ApiContext): Promise<DesiredStateSummary> {
    return summaryOf(state, await loaders.desiredStateSummary.load(state.id));
  }

  @ResolveField()
  async targets(state: DesiredStateRow, { states, ...args }: DesiredStateTargetsArgs, { view }: ApiContext) {
    return toConnection(await view.desiredStates.targets(state.id, states ?? undefined, pageRequest(args)));
  }

  @ResolveField()
  async rollout({ rolloutJobId }: DesiredStateRow, _args: unknown, { loaders }: ApiContext) {
    return rolloutJobId === undefined ? undefined : loaders.rollout.load(rolloutJobId);
  }

  @ResolveField()
  async edits(
    { id, name }: DesiredStateRow,
    { first }: DesiredStateEditsArgs,
    context: ApiContext,
  ): Promise<readonly unknown[]> {
    const edits = await context.view.desiredStates.edits(id, pageSize(first, 20, EDITS_MAX));
    return Promise.all(edits.map((edit) => showEdit(edit, name, context)));
  }

  @ResolveField()
  async editsConnection(
    { id, name }: DesiredStateRow,
    args: DesiredStateEditsConnectionArgs,
    context: ApiContext,
  ): Promise<Connection<unknown>> {
    const page = await context.view.desiredStates.editsPage(id, pageRequest(args));
    const rows = await Promise.all(page.rows.map((edit) => showEdit(edit, name, context)));
    return toConnection({ ...page, rows });
  }
}

async function showEdit({ plan, generation, at, by }: DesiredStateEditRow, name: string, reader: Reader) {
  const devices = await shownDeviceFilter(plan.devices, reader);
  return { generation, at, by, input: { name, ...plan, devices, arguments: await shownArguments(plan, reader) } };
}

function toPayload(saved: SavedState) {
  return 'refusal' in saved ? { userErrors: userErrors(saved.refusal) } : { desiredState: saved.state, userErrors: [] };
}
