import { Inject } from '@nestjs/common';
import { Mutation, Resolver } from '@nestjs/graphql';
import type { EventFeed } from '@flotilla/bus';
import type { Refusal } from '@flotilla/fleet';
import type { DeviceRow, Registry } from '@flotilla/registry';
import type { ApiContext } from '../api-context.js';
import { FEED, FLEET, REGISTRY } from '../api-deps.js';
import { hasCondition, parseDeviceFilter } from '../device-filter-input.js';
import { refuseDeviceNames } from '../device-names.js';
import type { FleetOperations } from '../fleet-operations.js';
import type {
  MutationRefreshToolsArgs,
  MutationResolvers,
  MutationTagDevicesArgs,
  MutationUpdateDeviceArgs,
} from '../generated/schema-types.js';
import { userErrors } from '../user-errors.js';

interface DeviceAnswer {
  readonly device?: DeviceRow | undefined;
  readonly userErrors: readonly Refusal[];
}

/** Changing what the hub knows of devices; nothing here reaches a device but the asking for its tools. */
@Resolver()
export class DeviceActsResolver implements Required<Pick<MutationResolvers, 'refreshTools' | 'updateDevice' | 'tagDevices'>> {
  constructor(
    @Inject(REGISTRY) private readonly registry: Registry,
    @Inject(FLEET) private readonly fleet: FleetOperations,
    @Inject(FEED) private readonly feed: EventFeed,
  ) {}

  @Mutation()
  async refreshTools(_root: unknown, { deviceId }: MutationRefreshToolsArgs, { loaders }: ApiContext): Promise<DeviceAnswer> {
    const { refusal } = await this.fleet.refreshTools(deviceId);
    return { device: await loaders.device.load(deviceId), userErrors: userErrors(refusal) };
  }

  /** A member that is not given stays; a null name is taken away. */
  @Mutation()
  async updateDevice(_root: unknown, { input }: MutationUpdateDeviceArgs): Promise<DeviceAnswer> {
    const { deviceId, name, tags } = input;
    const refusal = refuseDeviceNames({ name, tags }, ['input']);
    if (refusal) return { userErrors: [refusal] };
    const device = await this.registry.devices.update(deviceId, {
      ...(name === undefined ? {} : { name }),
      ...(tags ? { tags: [...new Set(tags)] } : {}),
    });
    if (!device) return { userErrors: [{ code: 'NOT_FOUND', message: `There is no device "${deviceId}".`, path: ['input', 'deviceId'] }] };
    this.feed.publish('device', { deviceId: device.id });
    return { device, userErrors: [] };
  }

  @Mutation()
  async tagDevices(
    _root: unknown,
    { input }: MutationTagDevicesArgs,
  ): Promise<{ readonly changedCount: number; readonly userErrors: readonly Refusal[] }> {
    const add = [...new Set(input.add)];
    const remove = [...new Set(input.remove)];
    const filter = parseDeviceFilter(input.filter) ?? {};
    const refusal = refuseEmptyFilter(hasCondition(filter)) ?? refuseDeviceNames({ tags: [...add, ...remove] }, ['input', 'add']);
    if (refusal) return { changedCount: 0, userErrors: [refusal] };
    return { changedCount: await this.registry.devices.tag(filter, add, remove), userErrors: [] };
  }
}

function refuseEmptyFilter(hasAny: boolean): Refusal | undefined {
  if (hasAny) return undefined;
  return { code: 'INVALID', message: 'The filter has no condition. The whole fleet is {all: true}.', path: ['input', 'filter'] };
}
