/** A hub with a mixed fleet, of which some have names and tags and a few are offline. */
import { expect } from 'vitest';
import { startFleet, type SimulatedFleet } from '../../devices/simulated-fleet.js';
import { startHub, type HubProcess } from '../../hub/hub-process.js';
import { online } from '../../jobs/job-api.js';
import { ask } from '../graphql-client.js';
import { allPages } from '../graphql-pages.js';
import { DEVICE_FIELDS, type DeviceNode } from './device-filter-cases.js';

/** How many of them are offline. */
export const AWAY_COUNT = 5;

export interface ContractFleet {
  readonly hub: HubProcess;
  readonly fleet: SimulatedFleet;
  readonly devices: readonly DeviceNode[];
}

export async function openContractFleet(count: number): Promise<ContractFleet> {
  const hub = await startHub();
  const fleet = startFleet(hub, { devices: count, transport: 'mixed' });
  await online(hub, count);
  const ids = (await allPages<{ id: string }>(hub, 'devices', 'id', '', 200)).map(({ id }) => id);
  const [named, alsoNamed, ...rest] = ids;
  const rename = 'mutation ($input: UpdateDeviceInput!) { updateDevice(input: $input) { userErrors { message } } }';
  await ask(hub, rename, { input: { deviceId: named, name: 'Zimmer 100%_', tags: ['lab', 'window'] } });
  await ask(hub, rename, { input: { deviceId: alsoNamed, name: 'aula' } });
  const tag = `mutation ($ids: [ID!]) { tagDevices(input: {filter: {ids: $ids}, add: ["lab"]}) {
      changedCount userErrors { message } } }`;
  const { tagDevices } = await ask<{ tagDevices: { changedCount: number } }>(hub, tag, { ids: ids.slice(0, 20) });
  expect(tagDevices.changedCount).toBe(19);
  for (const device of rest.slice(0, AWAY_COUNT)) fleet.command({ cmd: 'disconnect', device });
  await online(hub, count - AWAY_COUNT);
  const devices = await allPages<DeviceNode>(hub, 'devices', DEVICE_FIELDS, '', 200);
  return { hub, fleet, devices };
}
