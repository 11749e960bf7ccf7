/** A fleet with something to look at, and the console's pages with their addresses in it: for screenshots and for looking at every page. */
import { eventually } from './eventually.js';
import { ask } from './graphql-client.js';
import type { HubProcess } from './hub-process.js';

type Hub = Pick<HubProcess, 'httpUrl' | 'adminKey'>;

export interface Scenery {
  /** An online device with many tools. */
  readonly deviceId: string;
}

export interface ScenePage {
  /** As in the navigation, or what it is a part of. */
  readonly name: string;
  readonly pathOf: (scenery: Scenery) => string;
}

export const pages: readonly ScenePage[] = [
  { name: 'overview', pathOf: () => '/' },
  { name: 'enrolments', pathOf: () => '/enrolments' },
];

/** Waits until this many devices are in, then gives them tags. */
export async function furnish(hub: Hub, devices: number): Promise<Scenery> {
  const online = await eventually(
    async () => (await ask<OnlineDevices>(hub, '{ devices(first: 200, filter: { presence: ONLINE }) { nodes { id } } }')).devices.nodes,
    (nodes) => nodes.length >= devices,
    60_000,
  );
  const tag = 'mutation ($input: TagDevicesInput!) { tagDevices(input: $input) { changedCount } }';
  const ids = online.map(({ id }) => id);
  await ask(hub, tag, { input: { filter: { ids: ids.slice(0, 20) }, add: ['lobby', 'ground-floor'] } });
  await ask(hub, tag, { input: { filter: { ids: ids.slice(20, 32) }, add: ['canary'] } });
  return { deviceId: ids[0] ?? '' };
}

interface OnlineDevices {
  readonly devices: { readonly nodes: readonly { readonly id: string }[] };
}
