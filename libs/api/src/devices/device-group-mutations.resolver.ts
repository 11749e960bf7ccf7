import { Inject } from '@nestjs/common';
import { Mutation, Resolver } from '@nestjs/graphql';
import type { DeviceGroupRequest, SavedGroup } from '@flotilla/fleet';
import { actorOf, type ApiContext } from '../api-context.js';
import { FLEET } from '../api-deps.js';
import { parseDeviceFilter } from './device-filter-input.js';
import type { FleetOperations } from '../fleet-operations.js';
import type {
  DeviceGroupInput,
  MutationCreateDeviceGroupArgs,
  MutationDeleteDeviceGroupArgs,
  MutationUpdateDeviceGroupArgs,
} from '../generated/schema-types.js';
import type { Serves } from '../serves.js';
import { userErrors } from '../errors/user-errors.js';

/** Making, changing and deleting saved filters. */
@Resolver()
export class DeviceGroupMutationsResolver implements Serves<
  'Mutation',
  'createDeviceGroup' | 'updateDeviceGroup' | 'deleteDeviceGroup'
> {
  constructor(@Inject(FLEET) private readonly fleet: FleetOperations) {}

  @Mutation()
  async createDeviceGroup(_root: unknown, { input }: MutationCreateDeviceGroupArgs, context: ApiContext) {
    return toPayload(await this.fleet.createDeviceGroup(requestOf(input), actorOf(context)));
  }

  @Mutation()
  async updateDeviceGroup(
    _root: unknown,
    { id, input, expectedRevision }: MutationUpdateDeviceGroupArgs,
    context: ApiContext,
  ) {
    const request = requestOf(input);
    return toPayload(await this.fleet.updateDeviceGroup(id, request, actorOf(context), expectedRevision ?? undefined));
  }

  @Mutation()
  async deleteDeviceGroup(_root: unknown, { id }: MutationDeleteDeviceGroupArgs, context: ApiContext) {
    const { refusal } = await this.fleet.deleteDeviceGroup(id, actorOf(context));
    return refusal ? { userErrors: userErrors(refusal) } : { deviceGroupId: id, userErrors: [] };
  }
}

function requestOf({ name, filter, timeZone, voiceUrl }: DeviceGroupInput): DeviceGroupRequest {
  return {
    name,
    filter: parseDeviceFilter(filter) ?? {},
    timeZone: timeZone ?? undefined,
    voiceUrl: voiceUrl ?? undefined,
  };
}

function toPayload(saved: SavedGroup) {
  return 'refusal' in saved ? { userErrors: [saved.refusal] } : { deviceGroup: saved.group, userErrors: [] };
}
