import { Inject } from '@nestjs/common';
import { Mutation, Resolver } from '@nestjs/graphql';
import type { EventFeed } from '@flotilla/bus';
import { refuseFilter, refuseTimeZone, refuseUnknownGroups, type Refusal } from '@flotilla/fleet';
import { actorOf, sourceOfRequest, type ApiContext } from '../api-context.js';
import { FEED, FLEET, PROVISIONING } from '../api-deps.js';
import { parseDeviceFilter } from './device-filter-input.js';
import { refuseName, refuseTags, tagsMax } from './device-names.js';
import type { FleetOperations, ProvisioningOperations } from '../fleet-operations.js';
import type {
  MutationRefreshToolsArgs,
  MutationTagDevicesArgs,
  MutationUpdateDeviceArgs,
  TransportKind,
} from '../generated/schema-types.js';
import type { Serves } from '../serves.js';
import { userErrors } from '../errors/user-errors.js';

/** Changes the settings of devices in the hub. Only refreshTools reaches a device. */
@Resolver()
export class DeviceMutationsResolver implements Serves<'Mutation', 'refreshTools' | 'updateDevice' | 'tagDevices'> {
  constructor(
    @Inject(FLEET) private readonly fleet: FleetOperations,
    @Inject(PROVISIONING) private readonly provisioning: ProvisioningOperations,
    @Inject(FEED) private readonly feed: EventFeed,
  ) {}

  @Mutation()
  async refreshTools(_root: unknown, { deviceId }: MutationRefreshToolsArgs, context: ApiContext) {
    const { refusal } = await this.fleet.refreshTools(deviceId, actorOf(context));
    return { device: await context.loaders.device.load(deviceId), userErrors: userErrors(refusal) };
  }

  /** A member that is left out stays; null removes it. */
  @Mutation()
  async updateDevice(_root: unknown, { input }: MutationUpdateDeviceArgs, context: ApiContext) {
    const { deviceId, name, tags, timeZone, transport, voiceUrl } = input;
    const refusal =
      refuseName(name, ['input', 'name']) ??
      refuseTags(tags ?? [], ['input', 'tags']) ??
      refuseTimeZone(timeZone, ['input', 'timeZone']) ??
      refuseTransport(transport) ??
      (transport
        ? await this.provisioning.refuseDialled(deviceId, ['input', 'transport'], actorOf(context))
        : undefined);
    if (refusal) return { userErrors: [refusal] };
    const voice =
      voiceUrl === undefined ? undefined : await this.fleet.chooseVoiceServers(deviceId, voiceUrl, actorOf(context));
    if (voice && 'refusal' in voice) return { userErrors: [voice.refusal] };
    const change = {
      ...(name === undefined ? {} : { name }),
      ...(tags ? { tags } : {}),
      ...(timeZone === undefined ? {} : { timeZone }),
      ...voice,
    };
    const device = await context.view.devices.update(deviceId, change, sourceOfRequest(context));
    if (!device) {
      const message = `There is no device "${deviceId}".`;
      return { userErrors: userErrors({ code: 'NOT_FOUND', message, path: ['input', 'deviceId'] }) };
    }
    this.feed.publish('device', { deviceId: device.id });
    if (!transport || transport === 'TCP') return { device, userErrors: [] };
    // Another transaction: the device may have been removed meanwhile.
    const { refusal: refused } = await this.provisioning.setDeviceTransport(deviceId, transport, actorOf(context));
    return refused ? { userErrors: [refused] } : { device, userErrors: [] };
  }

  @Mutation()
  async tagDevices(_root: unknown, { input }: MutationTagDevicesArgs, context: ApiContext) {
    const change = { add: [...new Set(input.add)], remove: [...new Set(input.remove)], tagsMax };
    const filter = parseDeviceFilter(input.filter) ?? {};
    const refusal =
      refuseFilter(filter, ['input', 'filter']) ?? refuseTags(change.add, ['input', 'add']) ?? refuseTagging(change);
    const unknown = refusal ?? (await refuseUnknownGroups(context.view, filter, ['input', 'filter']));
    if (unknown) return { changedCount: 0, userErrors: [unknown] };
    const result = await context.view.devices.tag(filter, change, sourceOfRequest(context));
    if (result.kind === 'full') return { changedCount: 0, userErrors: [fullOfTags(result.id)] };
    for (const deviceId of result.ids) this.feed.publish('device', { deviceId });
    return { changedCount: result.ids.length, userErrors: [] };
  }
}

function refuseTagging({
  add,
  remove,
}: {
  readonly add: readonly string[];
  readonly remove: readonly string[];
}): Refusal | undefined {
  if (add.length + remove.length === 0)
    return { code: 'INVALID', message: 'Say which tags to "add" or to "remove".', path: ['input'] };
  const both = add.find((tag) => remove.includes(tag));
  return both === undefined
    ? undefined
    : { code: 'INVALID', message: `"${both}" is to be added and removed.`, path: ['input', 'remove'] };
}

/** Only xiaozhi devices ask how to connect, and they know these two. */
function refuseTransport(transport: TransportKind | null | undefined): Refusal | undefined {
  if (transport !== 'TCP') return undefined;
  return {
    code: 'INVALID',
    message: 'The transport of a device is MQTT or WEBSOCKET.',
    path: ['input', 'transport'],
  };
}

function fullOfTags(id: string): Refusal {
  return {
    code: 'LIMIT_EXCEEDED',
    message: `Device "${id}" would have more than ${tagsMax} tags; no device was changed.`,
    path: ['input', 'add'],
  };
}
