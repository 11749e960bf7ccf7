import { Query, ResolveField, Resolver } from '@nestjs/graphql';
import { groupRevision, showVoiceUrls } from '@flotilla/fleet';
import type { DeviceGroupRow } from '@flotilla/registry';
import type { ApiContext } from '../api-context.js';
import { pageRequest, toConnection } from '../connection.js';
import { showDeviceFilter } from './device-filter-input.js';
import type { DeviceGroupDevicesArgs, QueryDeviceGroupArgs, QueryDeviceGroupsArgs } from '../generated/schema-types.js';
import type { Serves } from '../serves.js';

/** Saved filters, and who matches them now. */
@Resolver('DeviceGroup')
export class DeviceGroupResolver
  implements
    Serves<'Query', 'deviceGroup' | 'deviceGroups'>,
    Serves<'DeviceGroup', 'filter' | 'voiceUrl' | 'deviceCount' | 'devices' | 'revision'>
{
  @Query()
  async deviceGroup(_root: unknown, { id }: QueryDeviceGroupArgs, { view }: ApiContext) {
    return (await view.deviceGroups.findMany([id]))[0];
  }

  @Query()
  async deviceGroups(_root: unknown, args: QueryDeviceGroupsArgs, { view }: ApiContext) {
    const search = args.search ?? undefined;
    return toConnection(await view.deviceGroups.page(pageRequest(args), search === undefined ? {} : { search }));
  }

  @ResolveField()
  filter({ filter }: DeviceGroupRow) {
    return showDeviceFilter(filter);
  }

  @ResolveField()
  voiceUrl({ voiceUrls }: DeviceGroupRow) {
    return showVoiceUrls(voiceUrls);
  }

  @ResolveField()
  revision(group: DeviceGroupRow) {
    return groupRevision(group);
  }

  @ResolveField()
  deviceCount(group: DeviceGroupRow, _args: unknown, { loaders }: ApiContext) {
    return loaders.groupSize.load(group);
  }

  @ResolveField()
  async devices({ filter }: DeviceGroupRow, args: DeviceGroupDevicesArgs, { view }: ApiContext) {
    const page = await view.devices.page(filter, 'ID_ASC', pageRequest(args));
    return Object.assign(toConnection(page), { filter });
  }
}
