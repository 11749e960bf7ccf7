/**
 * The voice server of imported boards: a group of them that names it, because a moved board talks
 * to its former agent there.
 */
import { expectAccepted, type FlotillaClient } from '@flotilla/client';
import type { DeviceFilter } from '@flotilla/client/schema';
import { UsageError } from '../exit-codes.js';
import {
  CreateDeviceGroupDocument,
  DeviceGroupDocument,
  DeviceGroupsDocument,
  UpdateDeviceGroupDocument,
} from '../generated/operations.js';
import { eachNode } from '../pages.js';

/** The tag of imported boards, and the name of their group. */
export const voiceGroup = 'xiaozhi-server';

/** Addresses are separated by commas here, and by semicolons in the parameter of that server. */
export function voiceUrlOf(written: string): string {
  const addresses = written.split(/[;,]/).map((address) => address.trim());
  const isRight = (address: string) => URL.canParse(address) && /^wss?:$/.test(new URL(address).protocol);
  if (!addresses.every(isRight))
    throw new UsageError(
      `"${written}" is not an address such as ws://old.example:8000/xiaozhi/v1/. Check --voice-url.`,
    );
  return addresses.join(',');
}

/** Makes the group, or gives it these voice servers. Its filter stays as people changed it. */
export async function setVoiceServer(client: FlotillaClient, voiceUrl: string): Promise<void> {
  for await (const { id, name } of eachNode(
    async (page) => (await client.request(DeviceGroupsDocument, page)).deviceGroups,
  )) {
    if (name !== voiceGroup) continue;
    const { deviceGroup } = await client.request(DeviceGroupDocument, { id });
    if (!deviceGroup) continue;
    const { filter, revision, timeZone } = deviceGroup;
    // The API returns the filter as it was given: the shape of its input.
    const input = { name: deviceGroup.name, filter: filter as DeviceFilter, timeZone, voiceUrl };
    expectAccepted((await client.request(UpdateDeviceGroupDocument, { id, input, revision })).updateDeviceGroup);
    return;
  }
  const input = { name: voiceGroup, filter: { tags: [voiceGroup] }, voiceUrl };
  expectAccepted((await client.request(CreateDeviceGroupDocument, { input })).createDeviceGroup);
}
