/**
 * The API of a running hub for integrators: the schema is the contract, every field answers,
 * filters select, and pages neither lose nor repeat rows.
 */
import { readFileSync } from 'node:fs';
import { buildSchema, lexicographicSortSchema, printSchema } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../src/eventually.js';
import { AWAY_COUNT, openContractFleet } from '../src/api/schema/contract-fleet.js';
import { deviceFilterCases, SET_VOLUME, type DeviceNode } from '../src/api/schema/device-filter-cases.js';
import { idsForEveryField } from '../src/api/schema/every-field.js';
import { ask, send, subscriptions } from '../src/api/graphql-client.js';
import { allPages, type ListPages } from '../src/api/graphql-pages.js';
import { argumentOf, askForEverything, servedSchema } from '../src/api/schema/graphql-schema.js';
import { removeDataDir, type HubProcess } from '../src/hub/hub-process.js';
import { failuresOf, finished, jobOf, online } from '../src/jobs/job-api.js';
import { notifyFrom, startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';

const DEVICES = 300;

let hub: HubProcess;
let fleet: SimulatedFleet;
let devices: readonly DeviceNode[];

const pagesOf = <Node>(...list: ListPages) => allPages<Node>(hub, ...list);

function nth(index: number): DeviceNode {
  const device = devices[index];
  if (!device) throw new Error(`the fleet has no device ${index}`);
  return device;
}

beforeAll(async () => {
  ({ hub, fleet, devices } = await openContractFleet(DEVICES));
});

afterAll(async () => {
  await fleet.stop();
  expect(await hub.stop()).toBe(0);
  removeDataDir(hub.dataDir);
});

describe('the schema of a running hub', () => {
  it('is schema.graphql', async () => {
    const contract = buildSchema(readFileSync(new URL('../../libs/api/schema.graphql', import.meta.url), 'utf8'));
    const served = await servedSchema(hub);
    expect(printSchema(lexicographicSortSchema(served))).toBe(printSchema(lexicographicSortSchema(contract)));
  });

  it('answers every field', async () => {
    const served = await servedSchema(hub);
    const deviceId = nth(10).id;
    const offlineId = devices.find(({ presence }) => presence === 'OFFLINE')?.id ?? '';
    const ids = await idsForEveryField(hub, deviceId, offlineId);
    for (const field of Object.values(served.getQueryType()?.getFields() ?? {})) {
      const argument = argumentOf(field, ids[field.name], deviceId);
      const answer = await askForEverything((query) => send(hub, query), field, { argument, levels: 4 });
      expect(answer.errors, field.name).toBeUndefined();
      expect(answer.data?.[field.name], field.name).toBeTruthy();
    }
  });
});

describe('devices', () => {
  it.each(deviceFilterCases(nth))('are chosen by %s', async (_what, filter, holds) => {
    const query = 'query ($filter: DeviceFilter) { devices(filter: $filter, first: 200) { totalCount nodes { id } } }';
    const found = (
      await ask<{ devices: { totalCount: number; nodes: { id: string }[] } }>(hub, query, { filter: filter() })
    ).devices;
    const expected = devices.filter(holds).map(({ id }) => id);
    expect(found.totalCount).toBe(expected.length);
    expect(found.nodes.map(({ id }) => id)).toEqual(expected.slice(0, 200));
  });

  it('are ordered by name with the nameless last, by last contact with the never seen last', async () => {
    const byName = await pagesOf<DeviceNode>('devices', 'id name', ', orderBy: NAME_ASC', 130);
    expect(new Set(byName.slice(0, 2).map(({ name }) => name))).toEqual(new Set(['aula', 'Zimmer 100%_']));
    expect(byName.map(({ id }) => id).sort()).toEqual(devices.map(({ id }) => id).sort());
    expect(byName.slice(2).every(({ name }) => name === null)).toBe(true);
    const byContact = await pagesOf<DeviceNode>(
      'devices',
      'id lastSeenAt',
      ', orderBy: LAST_SEEN_DESC, filter: {presence: OFFLINE}',
      2,
    );
    const times = byContact.map(({ lastSeenAt }) => Date.parse(lastSeenAt ?? ''));
    expect(times).toEqual([...times].sort((a, b) => b - a));
    expect(byContact).toHaveLength(AWAY_COUNT);
  });

  it('come once each, page by page, while others are added', async () => {
    const newcomers = startFleet(hub, { devices: 60, seed: 2 });
    try {
      const seen = await pagesOf<{ id: string }>('devices', 'id', '', 7);
      const ids = seen.map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      expect(devices.filter(({ id }) => !ids.includes(id))).toEqual([]);
      await online(hub, DEVICES - AWAY_COUNT + 60);
    } finally {
      await newcomers.stop();
    }
  });
});

describe('tools and policies', () => {
  interface FleetTool {
    readonly name: string;
    readonly schemaHash: string;
    readonly userOnly: boolean;
    readonly deviceCount: number;
  }
  const FLEET_TOOL = 'name schemaHash userOnly deviceCount';

  it('are listed once for each schema, with the devices that have them', async () => {
    const tools = await pagesOf<FleetTool>('tools', FLEET_TOOL, `, filter: {devices: {search: "02:00:01:"}}`, 5);
    const keys = tools.map(({ name, schemaHash }) => `${name} ${schemaHash}`);
    expect(new Set(keys).size).toBe(keys.length);
    const withVolume = devices.filter(
      ({ id, tools: own }) => id.startsWith('02:00:01:') && own.some(({ name }) => name === SET_VOLUME),
    );
    const counted = tools
      .filter(({ name }) => name === SET_VOLUME)
      .reduce((sum, { deviceCount }) => sum + deviceCount, 0);
    expect(counted).toBe(withVolume.length);
  });

  it('are chosen by name, search and audience', async () => {
    const named = await pagesOf<FleetTool>('tools', FLEET_TOOL, `, filter: {name: "${SET_VOLUME}"}`, 50);
    expect(new Set(named.map(({ name }) => name))).toEqual(new Set([SET_VOLUME]));
    const searched = await pagesOf<FleetTool>('tools', FLEET_TOOL, ', filter: {search: "SET_VOL"}', 50);
    expect(searched.map(({ name }) => name)).toContain(SET_VOLUME);
    const guarded = await pagesOf<FleetTool>('tools', FLEET_TOOL, ', filter: {userOnly: true}', 50);
    expect(guarded.map(({ name }) => name)).toContain('self.reboot');
    expect(guarded.every(({ userOnly }) => userOnly)).toBe(true);
  });

  it('have the policy whose pattern fits best', async () => {
    const { toolPolicies } = await ask<{ toolPolicies: { pattern: string; idempotent: boolean }[] }>(
      hub,
      '{ toolPolicies { pattern idempotent } }',
    );
    expect(toolPolicies.length).toBeGreaterThan(3);
    const query = `query ($id: ID!) { device(id: $id) {
        tools(names: ["self.get_device_status"]) { name policy { pattern idempotent } } } }`;
    const { device } = await ask<{ device: { tools: { policy: { pattern: string } }[] } }>(hub, query, {
      id: nth(10).id,
    });
    expect(toolPolicies).toContainEqual(device.tools[0]?.policy);
  });
});

describe('calls and jobs', () => {
  const CALL = 'mutation ($input: CallToolInput!) { callTool(input: $input) { call { id } } }';

  it('of calls: by device, tool, outcome, time and job, latest first', async () => {
    const deviceId = nth(20).id;
    const since = new Date().toISOString();
    const made: string[] = [];
    for (const input of [
      { tool: 'self.get_device_status' },
      { tool: 'self.nope' },
      { tool: 'self.get_device_status' },
    ]) {
      made.push(
        (await ask<{ callTool: { call: { id: string } } }>(hub, CALL, { input: { deviceId, ...input } })).callTool.call
          .id,
      );
    }
    const jobId = await jobOf(
      hub,
      { tool: 'self.get_device_status', devices: { ids: [deviceId, nth(21).id] } },
      'calls-of-a-job',
    );
    await finished(hub, jobId);
    const of = async (filter: string) =>
      (
        await pagesOf<{ id: string; jobId: string | null }>('calls', 'id jobId deviceId', `, filter: {${filter}}`, 2)
      ).map(({ id }) => id);
    const own = await of(`deviceId: "${deviceId}", since: "${since}"`);
    expect(own.slice(1)).toEqual([...made].reverse());
    expect(await of(`deviceId: "${deviceId}", tool: "self.nope"`)).toEqual([made[1]]);
    expect(await of(`deviceId: "${deviceId}", outcomes: [REJECTED]`)).toEqual([made[1]]);
    expect(await of(`jobId: "${jobId}"`)).toHaveLength(2);
    expect(await of(`jobId: "${jobId}", deviceId: "${deviceId}"`)).toEqual([own[0]]);
    expect(await of(`deviceId: "${deviceId}", until: "${since}"`)).not.toContain(made[0]);
  });

  it('of jobs: by state, tool and search, with a page of targets and the failures by kind', async () => {
    const tool = 'self.lamp.turn_on';
    const jobId = await jobOf(
      hub,
      { name: 'Lights On', tool, devices: { search: '02:00:01:' }, offline: 'SKIP' },
      'lights',
    );
    await finished(hub, jobId);
    const of = async (filter: string) =>
      (await pagesOf<{ id: string }>('jobs', 'id', `, filter: {${filter}}`, 1)).map(({ id }) => id);
    expect(await of(`tool: "${tool}", states: [FINISHED]`)).toEqual([jobId]);
    expect(await of(`tool: "${tool}", states: [RUNNING, PAUSED]`)).toEqual([]);
    expect(await of('search: "lights on"')).toEqual([jobId]);
    const job = await failuresOf(hub, jobId);
    expect(job.failureGroups).toMatchObject([{ code: 'TOOL_UNKNOWN', count: job.progress.rejected }]);
    expect(job.targets.nodes).toHaveLength(Math.min(200, job.progress.rejected));
    expect(job.targets.nodes.every(({ deviceId, device }) => deviceId === device.id)).toBe(true);
  });
});

describe('events', () => {
  it('are read in both orders, and `after` catches up from where a subscription ended', async () => {
    const deviceId = nth(30).id;
    const client = subscriptions(hub);
    const live = client.iterate<{ eventAdded: { cursor: string; node: { id: string } } }>({
      query: `subscription { eventAdded(filter: {deviceId: "${deviceId}", types: ["device.notification"]}) {
        cursor node { id type } } }`,
    });
    const seen = live.next();
    const notify = () => notifyFrom(fleet, deviceId);
    const timer = setInterval(notify, 100);
    const first = (await seen).value?.data?.eventAdded;
    clearInterval(timer);
    await live.return?.();
    await client.dispose();
    notify();
    const after = (order: string) =>
      pagesOf<{ id: string; at: string }>(
        'events',
        'id at',
        `, orderBy: ${order}, filter: {deviceId: "${deviceId}", types: ["device.notification"]}`,
        3,
      );
    const ascending = await eventually(
      () => after('AT_ASC'),
      (events) => events.length > 1 && events.some(({ id }) => id === first?.node.id),
    );
    const caughtUp = await ask<{ events: { nodes: { id: string }[] } }>(
      hub,
      `query ($after: String) {
        events(after: $after, first: 200, filter: {deviceId: "${deviceId}", types: ["device.notification"]}) {
          nodes { id } } }`,
      { after: first?.cursor },
    );
    const place = ascending.findIndex(({ id }) => id === first?.node.id);
    const missed = caughtUp.events.nodes.map(({ id }) => id);
    expect(missed.slice(0, ascending.length - place - 1)).toEqual(ascending.slice(place + 1).map(({ id }) => id));
    expect((await after('AT_DESC')).map(({ id }) => id).slice(-ascending.length)).toEqual(
      ascending.map(({ id }) => id).reverse(),
    );
  });
});

describe('what hangs on a device', () => {
  it('is its own, also in a list of devices', async () => {
    const query = `{ devices(first: 40) { nodes { id
      sessions(first: 3) { epoch transport } toolSetHistory(first: 3) { hash added }
      events(first: 3) { nodes { deviceId at } } calls(first: 2) { nodes { deviceId startedAt } } } } }`;
    interface Hanging {
      readonly id: string;
      readonly sessions: readonly { readonly epoch: number }[];
      readonly toolSetHistory: readonly unknown[];
      readonly events: { readonly nodes: readonly { readonly deviceId: string; readonly at: string }[] };
      readonly calls: { readonly nodes: readonly { readonly deviceId: string }[] };
    }
    const { devices: list } = await ask<{ devices: { nodes: readonly Hanging[] } }>(hub, query);
    for (const device of list.nodes) {
      expect(device.sessions.map(({ epoch }) => epoch)).toEqual(
        device.sessions.map((_, index) => (device.sessions[0]?.epoch ?? 0) - index),
      );
      expect(device.sessions.length).toBeGreaterThan(0);
      expect(device.toolSetHistory).toHaveLength(1);
      for (const { deviceId } of [...device.events.nodes, ...device.calls.nodes]) expect(deviceId).toBe(device.id);
      const times = device.events.nodes.map(({ at }) => at);
      expect(times.length).toBeGreaterThan(0);
      expect(times).toEqual([...times].sort().reverse());
    }
    expect(list.nodes.find(({ id }) => id === nth(20).id)?.calls.nodes).toHaveLength(2);
  });
});
