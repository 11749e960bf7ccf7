import { Inject } from '@nestjs/common';
import { ResolveField, Resolver } from '@nestjs/graphql';
import type { AlertRow, DeviceRow } from '@flotilla/registry';
import type { ApiContext } from '../api-context.js';
import { LIMITS, REGISTRY, type FleetWideStores } from '../api-deps.js';
import { pageRequest, toConnection, type Connection } from '../connection.js';
import type { DeviceAlertsArgs, DeviceResolvers } from '../generated/schema-types.js';
import type { ApiLimits } from '../limits/api-limits.js';

/** The alerts of a device. */
@Resolver('Device')
export class DeviceAlertsResolver implements Required<Pick<DeviceResolvers, 'alerts'>> {
  constructor(
    @Inject(REGISTRY) private readonly registry: FleetWideStores,
    @Inject(LIMITS) private readonly limits: ApiLimits,
  ) {}

  @ResolveField()
  async alerts(
    { id }: DeviceRow,
    args: DeviceAlertsArgs,
    { viewer }: ApiContext,
  ): Promise<Connection<AlertRow> & { readonly totalCount: number }> {
    const filter = { deviceId: id, within: viewer.devices };
    const request = pageRequest(args, this.limits.pageRowsMax);
    const { alerts } = this.registry;
    const [page, totalCount] = await Promise.all([alerts.page(filter, request), alerts.count(filter)]);
    return Object.assign(toConnection(page), { totalCount });
  }
}
