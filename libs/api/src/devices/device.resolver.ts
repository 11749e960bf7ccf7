import { ResolveField, Resolver } from '@nestjs/graphql';
import { showVoiceUrls } from '@flotilla/fleet';
import type { DeviceRow } from '@flotilla/registry';
import { mayCallUserOnly, type ApiContext } from '../api-context.js';
import { pageRequest, pageSize, toConnection } from '../connection.js';
import { toolsOf } from './device-tools.js';
import type {
  DeviceCallsArgs,
  DeviceEventsArgs,
  DeviceSessionsArgs,
  DeviceToolSetHistoryArgs,
  DeviceToolsArgs,
} from '../generated/schema-types.js';
import type { Serves } from '../serves.js';

type Fields =
  'desiredStates' | 'groups' | 'voiceUrl' | 'pins' | 'tools' | 'toolSetHistory' | 'sessions' | 'events' | 'calls';

/** What hangs on a device; its plain fields are its row's. */
@Resolver('Device')
export class DeviceResolver implements Serves<'Device', Fields> {
  /**
   * The tools of the device, then those of the hub. User-only tools only for viewers who may call
   * them.
   */
  @ResolveField()
  async tools(device: DeviceRow, { names }: DeviceToolsArgs, { viewer, loaders }: ApiContext) {
    const toolSet = device.toolSetHash === undefined ? undefined : await loaders.toolSet.load(device.toolSetHash);
    const all = toolsOf(device, toolSet);
    if (!names && mayCallUserOnly(viewer)) return all;
    const wanted = names ? new Set(names) : undefined;
    return all.filter(
      ({ name, userOnly }) => (!userOnly || mayCallUserOnly(viewer)) && (wanted === undefined || wanted.has(name)),
    );
  }

  @ResolveField()
  voiceUrl({ voiceUrls }: DeviceRow) {
    return showVoiceUrls(voiceUrls);
  }

  @ResolveField()
  groups({ id }: DeviceRow, _args: unknown, { loaders }: ApiContext) {
    return loaders.deviceGroups.load(id);
  }

  @ResolveField()
  desiredStates({ id }: DeviceRow, _args: unknown, { loaders }: ApiContext) {
    return loaders.desiredStatesOf.load(id);
  }

  @ResolveField()
  async pins({ toolSetHash }: DeviceRow, _args: unknown, { loaders }: ApiContext) {
    const toolSet = toolSetHash === undefined ? undefined : await loaders.toolSet.load(toolSetHash);
    return toolSet?.pins ?? [];
  }

  @ResolveField()
  toolSetHistory({ id }: DeviceRow, { first }: DeviceToolSetHistoryArgs, { loaders }: ApiContext) {
    return loaders.toolSetHistory(id, pageSize(first, 20));
  }

  @ResolveField()
  sessions({ id }: DeviceRow, { first }: DeviceSessionsArgs, { loaders }: ApiContext) {
    return loaders.sessions(id, pageSize(first, 20));
  }

  /** Latest first. */
  @ResolveField()
  async events({ id }: DeviceRow, args: DeviceEventsArgs, { loaders }: ApiContext) {
    return toConnection(await loaders.deviceEvents(id, pageRequest(args)));
  }

  /** Latest first. */
  @ResolveField()
  async calls({ id }: DeviceRow, args: DeviceCallsArgs, { loaders }: ApiContext) {
    return toConnection(await loaders.deviceCalls(id, pageRequest(args)));
  }
}
