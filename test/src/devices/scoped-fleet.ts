/** A hub with a fleet of which a scoped key sees two devices. */
import { randomUUID } from 'node:crypto';
import type { Client } from 'graphql-ws';
import { expect } from 'vitest';
import { makeKey, scopes } from '../api/api-keys.js';
import { ask, type GraphqlAnswer } from '../api/graphql-client.js';
import { removeDataDir, startHub, type HubProcess } from '../hub/hub-process.js';
import { finished, jobOf, online } from '../jobs/job-api.js';
import { startFleet, type SimulatedFleet } from './simulated-fleet.js';

export const STATUS = 'self.get_device_status';
const COUNT = 6;

export interface ScopedFleet {
  readonly hub: HubProcess;
  readonly fleet: SimulatedFleet;
  /** Those with the tag that the key is limited to, and the others. */
  readonly own: readonly string[];
  readonly others: readonly string[];
  readonly key: string;
  readonly wideJob: string;
  readonly othersJob: string;
}

export async function openScopedFleet(): Promise<ScopedFleet> {
  const hub = await startHub();
  const fleet = startFleet(hub, { devices: COUNT, transport: 'mqtt' });
  await online(hub, COUNT);
  const { devices } = await ask<{ devices: { nodes: { id: string }[] } }>(hub, '{ devices { nodes { id } } }');
  const ids = devices.nodes.map(({ id }) => id);
  const [own, others] = [ids.slice(0, 2), ids.slice(2)];
  await ask(hub, 'mutation ($ids: [ID!]) { tagDevices(input: {filter: {ids: $ids}, add: ["lab"]}) { changedCount } }', {
    ids: own,
  });
  const group = 'mutation ($input: DeviceGroupInput!) { createDeviceGroup(input: $input) { userErrors { message } } }';
  await ask(hub, group, { input: { name: 'listed', filter: { ids } } });
  await ask(hub, group, { input: { name: 'theirs', filter: { ids: others } } });
  for (const id of ids) await callStatus(hub, id);
  const wideJob = await jobOf(hub, { tool: STATUS, devices: { all: true }, name: 'wide' }, randomUUID());
  const othersJob = await jobOf(hub, { tool: STATUS, devices: { ids: others }, name: 'of others' }, randomUUID());
  await Promise.all([finished(hub, wideJob), finished(hub, othersJob)]);
  const key = (await makeKey(hub, scopes, { devices: { tags: ['lab'] } })).secret;
  return { hub, fleet, own, others, key, wideJob, othersJob };
}

export async function closeScopedFleet({ hub, fleet }: ScopedFleet): Promise<void> {
  await fleet.stop();
  expect(await hub.stop()).toBe(0);
  expect(hub.log()).not.toMatch(/unhandled|failed inside/i);
  removeDataDir(hub.dataDir);
}

/** Calls the device as an administrator, and returns the id of the call. */
export async function callStatus(hub: HubProcess, deviceId: string): Promise<string> {
  const query = 'mutation ($input: CallToolInput!) { callTool(input: $input) { call { id } } }';
  return (await ask<{ callTool: { call: { id: string } } }>(hub, query, { input: { deviceId, tool: STATUS } })).callTool
    .call.id;
}

/** Fails where an answer names a device that does not exist for the key. */
export function expectNoneOf(ids: readonly string[], answer: unknown, what?: string): void {
  const text = JSON.stringify(answer).toLowerCase();
  for (const id of ids) expect(text, what).not.toContain(id);
}

export const codesOf = ({ errors }: GraphqlAnswer) => errors?.map(({ extensions }) => extensions?.code);

/** The results of a job, as the key may download them. */
export function resultsOf(hub: HubProcess, jobId: string, format: 'jsonl' | 'csv', key: string): Promise<Response> {
  return fetch(`${hub.httpUrl}/api/jobs/${jobId}/results.${format}`, { headers: { authorization: `Bearer ${key}` } });
}

/** The devices of the decided targets, until the subscription completes. */
export async function decidedOf(client: Client, jobId: string): Promise<readonly string[]> {
  const told: string[] = [];
  const query = `subscription { jobTargetsDecided(jobId: "${jobId}") { deviceId state outcome device { id } } }`;
  for await (const { data } of client.iterate<{ jobTargetsDecided: { deviceId: string; outcome: string }[] }>({
    query,
  })) {
    for (const { deviceId, outcome } of data?.jobTargetsDecided ?? []) {
      expect(outcome).toBe('SUCCEEDED');
      told.push(deviceId);
    }
  }
  return told.sort();
}
