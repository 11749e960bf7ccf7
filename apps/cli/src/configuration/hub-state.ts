/** What the hub has: things of each kind, and what the last apply wrote. */
import type { FlotillaClient } from '@flotilla/client';
import { say } from '../console/output.js';
import { printable } from '../console/printable.js';
import {
  AppliedConfigurationsDocument,
  DeviceGroupsDocument,
  NotificationChannelsDocument,
} from '../generated/operations.js';
import { eachNode } from '../pages.js';
import { isFields, type Kind, type Live, type References } from './kind.js';
import { allOf } from './kinds/all-of.js';
import { imagesOf } from './kinds/firmware-images.js';
import type { Applied } from './plan.js';

/** By kind, then by name. */
type ByName<Value> = ReadonlyMap<string, ReadonlyMap<string, Value>>;

export async function readReferences(client: FlotillaClient): Promise<References> {
  const groups = await allOf(eachNode(async (page) => (await client.request(DeviceGroupsDocument, page)).deviceGroups));
  const images = (await imagesOf(client)).filter(({ withdrawnAt }) => withdrawnAt === null);
  const { notificationChannels: channels } = await client.request(NotificationChannelsDocument);
  return {
    groups: new Map(groups.map(({ name, id }) => [name, id])),
    images: new Map(images.map(({ sha256, id }) => [sha256, id])),
    channels: new Map(channels.map(({ name, id }) => [name, id])),
  };
}

/** Names that occur twice are reported, because a file cannot name both; the newest one counts. */
export async function readLive(kinds: readonly Kind[], client: FlotillaClient): Promise<ByName<Live>> {
  const references = await readReferences(client);
  const all = new Map<string, ReadonlyMap<string, Live>>();
  for (const kind of kinds) {
    const things = new Map<string, Live>();
    for (const live of await kind.read({ client, references })) {
      if (things.has(live.name))
        say(`${kind.kind} "${printable(live.name)}" exists more than once; the newest one counts.`);
      else things.set(live.name, live);
    }
    all.set(kind.kind, things);
  }
  return all;
}

export async function readApplied(client: FlotillaClient): Promise<ByName<Applied>> {
  const all = new Map<string, Map<string, Applied>>();
  const entries = eachNode(
    async (page) => (await client.request(AppliedConfigurationsDocument, page)).appliedConfigurations,
  );
  for await (const { kind, name, fields, revision } of entries) {
    const things = all.get(kind) ?? new Map<string, Applied>();
    all.set(kind, things.set(name, { fields: isFields(fields) ? fields : {}, revision }));
  }
  return all;
}
