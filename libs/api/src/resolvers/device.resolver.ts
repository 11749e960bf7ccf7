import { Inject } from '@nestjs/common';
import { ResolveField, Resolver } from '@nestjs/graphql';
import type { CallRow, DeviceRow, EventRow, Registry, SessionRow, StoredTool, ToolSetUseRow } from '@flotilla/registry';
import { mayCallUserOnly, type ApiContext } from '../api-context.js';
import { LIMITS, REGISTRY } from '../api-deps.js';
import { pageRequest, pageSize, toConnection, type Connection } from '../connection.js';
import type {
  DeviceCallsArgs,
  DeviceEventsArgs,
  DeviceResolvers,
  DeviceSessionsArgs,
  DeviceToolSetHistoryArgs,
  DeviceToolsArgs,
} from '../generated/schema-types.js';
import type { ApiLimits } from '../limits/api-limits.js';

type Fields = 'tools' | 'toolSetHistory' | 'sessions' | 'events' | 'calls';

/** What hangs on a device; its plain fields are its row's. */
@Resolver('Device')
export class DeviceResolver implements Required<Pick<DeviceResolvers, Fields>> {
  constructor(
    @Inject(REGISTRY) private readonly registry: Registry,
    @Inject(LIMITS) private readonly limits: ApiLimits,
  ) {}

  /** User-only tools are there only for a viewer who may call them. */
  @ResolveField()
  async tools(device: DeviceRow, { names }: DeviceToolsArgs, { viewer, loaders }: ApiContext): Promise<readonly StoredTool[]> {
    if (device.toolSetHash === undefined) return [];
    const toolSet = await loaders.toolSet.load(device.toolSetHash);
    const visible = toolSet?.tools ?? [];
    if (!names && mayCallUserOnly(viewer)) return visible;
    return visible.filter((tool) => (!tool.userOnly || mayCallUserOnly(viewer)) && (!names || names.includes(tool.name)));
  }

  @ResolveField()
  toolSetHistory(device: DeviceRow, { first }: DeviceToolSetHistoryArgs): Promise<readonly ToolSetUseRow[]> {
    return this.registry.devices.toolSetHistory(device.id, pageSize(first, 20, this.limits.pageRowsMax));
  }

  @ResolveField()
  sessions(device: DeviceRow, { first }: DeviceSessionsArgs): Promise<readonly SessionRow[]> {
    return this.registry.devices.sessions(device.id, pageSize(first, 20, this.limits.pageRowsMax));
  }

  /** Latest first. */
  @ResolveField()
  async events(device: DeviceRow, args: DeviceEventsArgs): Promise<Connection<EventRow>> {
    const request = pageRequest(args, this.limits.pageRowsMax);
    return toConnection(await this.registry.events.page({ deviceId: device.id }, 'AT_DESC', request));
  }

  @ResolveField()
  async calls(device: DeviceRow, args: DeviceCallsArgs): Promise<Connection<CallRow>> {
    const request = pageRequest(args, this.limits.pageRowsMax);
    return toConnection(await this.registry.calls.page({ deviceId: device.id }, request));
  }
}
