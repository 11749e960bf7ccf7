import { Inject } from '@nestjs/common';
import { Query, ResolveField, Resolver } from '@nestjs/graphql';
import { showVoiceUrls } from '@flotilla/fleet';
import type { DeviceGroupRow, Registry } from '@flotilla/registry';
import type { ApiContext } from '../api-context.js';
import { LIMITS, REGISTRY } from '../api-deps.js';
import { pageRequest, toConnection, type Connection, type DeviceConnectionSource } from '../connection.js';
import { showDeviceFilter } from '../device-filter-input.js';
import type {
  DeviceGroupDevicesArgs,
  DeviceGroupResolvers,
  QueryDeviceGroupArgs,
  QueryDeviceGroupsArgs,
  QueryResolvers,
} from '../generated/schema-types.js';
import type { ApiLimits } from '../limits/api-limits.js';

/** Saved filters, and who matches them now. */
@Resolver('DeviceGroup')
export class DeviceGroupResolver
  implements
    Required<Pick<QueryResolvers, 'deviceGroup' | 'deviceGroups'>>,
    Required<Pick<DeviceGroupResolvers, 'filter' | 'voiceUrl' | 'deviceCount' | 'devices'>>
{
  constructor(
    @Inject(REGISTRY) private readonly registry: Registry,
    @Inject(LIMITS) private readonly limits: ApiLimits,
  ) {}

  @Query()
  async deviceGroup(_root: unknown, { id }: QueryDeviceGroupArgs): Promise<DeviceGroupRow | undefined> {
    return (await this.registry.deviceGroups.findMany([id]))[0];
  }

  @Query()
  async deviceGroups(_root: unknown, args: QueryDeviceGroupsArgs): Promise<Connection<DeviceGroupRow>> {
    return toConnection(await this.registry.deviceGroups.page(pageRequest(args, this.limits.pageRowsMax)));
  }

  @ResolveField()
  filter({ filter }: DeviceGroupRow): unknown {
    return showDeviceFilter(filter);
  }

  @ResolveField()
  voiceUrl({ voiceUrls }: DeviceGroupRow): string | undefined {
    return showVoiceUrls(voiceUrls);
  }

  @ResolveField()
  deviceCount(group: DeviceGroupRow, _args: unknown, { loaders }: ApiContext): Promise<number> {
    return loaders.groupSize.load(group);
  }

  @ResolveField()
  async devices({ filter }: DeviceGroupRow, args: DeviceGroupDevicesArgs): Promise<DeviceConnectionSource> {
    const page = await this.registry.devices.page(filter, 'ID_ASC', pageRequest(args, this.limits.pageRowsMax));
    return Object.assign(toConnection(page), { filter });
  }
}
