import { Query, ResolveField, Resolver } from '@nestjs/graphql';
import type { ApiContext } from '../api-context.js';
import { pageRequest, toConnection, type DeviceConnectionSource } from '../connection.js';
import { parseDeviceFilter } from './device-filter-input.js';
import type { QueryDeviceArgs, QueryDevicesArgs } from '../generated/schema-types.js';
import type { Serves } from '../serves.js';

/** Finding devices: one by id, or many by filter. */
@Resolver('DeviceConnection')
export class DeviceListResolver
  implements Serves<'Query', 'device' | 'devices'>, Serves<'DeviceConnection', 'totalCount'>
{
  @Query()
  device(_root: unknown, { id }: QueryDeviceArgs, { loaders }: ApiContext) {
    return loaders.device.load(id);
  }

  @Query()
  async devices(_root: unknown, args: QueryDevicesArgs, { view }: ApiContext) {
    const filter = parseDeviceFilter(args.filter);
    const page = await view.devices.page(filter, args.orderBy ?? 'ID_ASC', pageRequest(args));
    return Object.assign(toConnection(page), { filter });
  }

  /** Counted only when asked for. */
  @ResolveField()
  totalCount(connection: DeviceConnectionSource, _args: unknown, { view }: ApiContext) {
    return view.devices.count(connection.filter);
  }
}
