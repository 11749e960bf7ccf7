import { Inject } from '@nestjs/common';
import { ResolveField, Resolver } from '@nestjs/graphql';
import type { DeviceRow } from '@flotilla/registry';
import type { ApiContext } from '../api-context.js';
import { REGISTRY, type FleetWideStores } from '../api-deps.js';
import { pageRequest, toConnection } from '../connection.js';
import type { DeviceAlertsArgs } from '../generated/schema-types.js';
import type { Serves } from '../serves.js';

/** The alerts of a device. */
@Resolver('Device')
export class DeviceAlertsResolver implements Serves<'Device', 'alerts'> {
  constructor(@Inject(REGISTRY) private readonly registry: FleetWideStores) {}

  @ResolveField()
  async alerts({ id }: DeviceRow, args: DeviceAlertsArgs, { viewer }: ApiContext) {
    const filter = { deviceId: id, within: viewer.devices };
    const request = pageRequest(args);
    const { alerts } = this.registry;
    const [page, totalCount] = await Promise.all([alerts.page(filter, request), alerts.count(filter)]);
    return Object.assign(toConnection(page), { totalCount });
  }
}
