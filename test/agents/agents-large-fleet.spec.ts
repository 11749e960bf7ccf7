/**
 * An agent in a fleet of 200 devices: every result fits its declared schema, errors help, and one
 * sentence of an operator becomes a scheduled job with three calls. docs/agents.md has the sizes.
 */
import { Client as PgClient } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectAgent } from '../src/agents/agent-client.js';
import { insertKey, textOf } from '../src/agents/agent-keys.js';
import { checked } from '../src/agents/checked-call.js';
import { restartOffline, scheduledAtThree, sizesOf } from '../src/agents/scripted-agent.js';
import { wrongRequests } from '../src/agents/wrong-requests.js';
import { ask } from '../src/api/graphql-client.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { eventually } from '../src/eventually.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { openTestDatabase, type TestDatabase } from '../src/hub/test-database.js';
import { finished, online, steerJob } from '../src/jobs/job-api.js';

const [lampCount, boxCount, brokenCount] = [140, 20, 40];

let database: TestDatabase;
let pg: PgClient;
let hub: HubProcess;
let lamps: SimulatedFleet;
let boxes: SimulatedFleet;
/** The boxes that are offline, until they are started again. */
let broken: SimulatedFleet;
let key: string;

const startBroken = () => startFleet(hub, { devices: brokenCount, profile: 'interim', seed: 3 });
const idOfALamp = async () => {
  const query = '{ devices(filter: { hasTool: "self.lamp.turn_on" }, first: 1) { nodes { id } } }';
  return (await ask<{ devices: { nodes: { id: string }[] } }>(hub, query)).devices.nodes[0]?.id ?? '';
};

beforeAll(async () => {
  database = await openTestDatabase();
  hub = await startHub({ env: { DATABASE_URL: database.url } });
  pg = new PgClient({ connectionString: database.url });
  await pg.connect();
  key = await insertKey(pg, ['DEVICES_READ', 'TOOLS_CALL', 'TOOLS_CALL_PRIVILEGED', 'JOBS_WRITE', 'JOBS_READ']);
  lamps = startFleet(hub, { devices: lampCount, profile: 'lamp', seed: 1 });
  boxes = startFleet(hub, { devices: boxCount, profile: 'interim', seed: 2 });
  broken = startBroken();
  await online(hub, lampCount + boxCount + brokenCount);
  await eventually(
    () =>
      ask<{ devices: { totalCount: number } }>(hub, '{ devices(filter: { hasTool: "self.reboot" }) { totalCount } }'),
    ({ devices }) => devices.totalCount === lampCount + boxCount + brokenCount,
  );
  const tag = 'mutation ($input: TagDevicesInput!) { tagDevices(input: $input) { userErrors { message } } }';
  await ask(hub, tag, { input: { filter: { model: 'esp-box-3' }, add: ['lobby'] } });
  const group = 'mutation ($input: DeviceGroupInput!) { createDeviceGroup(input: $input) { userErrors { message } } }';
  expect(
    await ask(hub, group, { input: { name: 'Lobby', filter: { tags: ['lobby'] }, timeZone: 'Asia/Shanghai' } }),
  ).toEqual({ createDeviceGroup: { userErrors: [] } });
  await broken.stop();
  await online(hub, lampCount + boxCount);
});

afterAll(async () => {
  await Promise.all([lamps, boxes, broken].map((fleet) => fleet.stop()));
  await pg.end();
  expect(await hub.stop()).toBe(0);
  expect(hub.log()).not.toMatch(/unhandled|failed inside/i);
  removeDataDir(hub.dataDir);
  await database.close();
});

function anyOf(type: string): unknown {
  return type === 'string' ? 'idle' : 1;
}

describe('the tools of the MCP server', () => {
  it('have a title, annotations and an output schema that their results fit, in the compact mode', async () => {
    const agent = await connectAgent(hub, { key });
    const { tools } = await agent.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'find_devices',
      'describe_device',
      'call_tool',
      'call_tool_on_many',
      'job_status',
      'create_recurring_job',
      'recurring_jobs',
      'create_desired_state',
      'desired_states',
      'read_measurements',
    ]);
    for (const { title, annotations, outputSchema } of tools) {
      expect(title).toMatch(/^[A-Z]/);
      expect(Object.keys(annotations ?? {}).sort()).toEqual(
        ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'].sort(),
      );
      expect(outputSchema?.type).toBe('object');
    }
    const device = await idOfALamp();
    await checked(agent, tools, 'find_devices', {});
    await checked(agent, tools, 'read_measurements', {});
    await checked(agent, tools, 'read_measurements', { device });
    await checked(agent, tools, 'describe_device', { device });
    await checked(agent, tools, 'call_tool', { device, tool: 'self.lamp.get_state' });
    const many = { ids: [device], tool: 'self.lamp.turn_on' };
    expect(await checked(agent, tools, 'call_tool_on_many', { ...many, model: 'none' })).toMatchObject({ devices: 0 });
    expect(await checked(agent, tools, 'call_tool_on_many', many)).toMatchObject({ devices: 1, rejected: [] });
    const { job } = (await checked(agent, tools, 'call_tool_on_many', { ...many, confirmDevices: 1 })) as {
      job: string;
    };
    await finished(hub, job);
    expect(await checked(agent, tools, 'job_status', { job })).toMatchObject({ progress: { succeeded: 1 } });
    await agent.close();
  });

  it('have them in the full mode, too', async () => {
    const device = await idOfALamp();
    const narrow = await insertKey(pg, ['DEVICES_READ', 'TOOLS_CALL'], { devices: { ids: [device] } });
    const agent = await connectAgent(hub, { key: narrow, mode: 'full' });
    const { tools } = await agent.listTools();
    const ofDevices = tools.filter(({ name }) => name.includes('__'));
    expect(ofDevices.length).toBeGreaterThan(3);
    for (const { name, title, annotations, inputSchema } of ofDevices) {
      expect([typeof title, typeof annotations]).toEqual(['string', 'object']);
      const properties = Object.entries((inputSchema.properties ?? {}) as Record<string, { type: string }>);
      const args = Object.fromEntries(properties.map(([argument, { type }]) => [argument, anyOf(type)]));
      expect(await checked(agent, tools, name, args)).toMatchObject({ source: 'device' });
    }
    await agent.close();
  });
});

describe('find_devices', () => {
  it('finds by presence, model, tool and group, and pages', async () => {
    const agent = await connectAgent(hub, { key });
    const find = async (args: object) =>
      (await agent.callTool({ name: 'find_devices', arguments: { ...args } })).structuredContent as Found;
    expect(await find({ group: 'lobby', presence: 'OFFLINE', first: 1 })).toMatchObject({
      matching: brokenCount,
      more: true,
      timeZone: 'Asia/Shanghai',
      deviceSays: { models: [{ model: 'esp-box-3', devices: brokenCount }] },
    });
    expect(await find({ model: 'esp-box-3', presence: 'ONLINE' })).toMatchObject({ matching: boxCount });
    expect(await find({ tool: 'self.lamp.turn_on' })).toMatchObject({ matching: lampCount });
    expect(await find({ model: 'esp-box', group: 'Lobby' })).toMatchObject({
      matching: 0,
      hint: expect.stringContaining('model'),
      deviceSays: { models: [{ model: 'esp-box-3', devices: boxCount + brokenCount }] },
    });
    const ids: string[] = [];
    for (let page: Found | undefined; page?.more ?? true;) {
      page = await find({ first: 100, ...(page?.next !== undefined && { after: page.next }) });
      ids.push(...page.devices.map(({ id }) => id));
    }
    expect(new Set(ids).size).toBe(lampCount + boxCount + brokenCount);
    await agent.close();
  });

  it('says of connected devices that they were seen now, and of others when', async () => {
    const agent = await connectAgent(hub, { key });
    const seen = async (presence: string) => {
      const answer = await agent.callTool({ name: 'find_devices', arguments: { presence, first: 100 } });
      const { now, devices } = answer.structuredContent as Found;
      return devices.map(({ lastSeenAt }) => Date.parse(now) - Date.parse(lastSeenAt));
    };
    expect(new Set(await seen('ONLINE'))).toEqual(new Set([0]));
    for (const ago of await seen('OFFLINE')) expect(ago).toBeGreaterThan(0);
    await agent.close();
  });
});

interface Found {
  readonly now: string;
  readonly more: boolean;
  readonly next?: string;
  readonly devices: readonly { readonly id: string; readonly lastSeenAt: string }[];
}

describe('a wrong request of an agent', () => {
  it.each(wrongRequests)('of %s with %j gets an error that helps', async (name, args, words) => {
    const agent = await connectAgent(hub, { key });
    const answer = await agent.callTool({ name, arguments: { ...args } });
    expect(answer.isError).toBe(true);
    expect(textOf(answer)).toMatch(words);
    await agent.close();
  });
});

describe('what lasts', () => {
  const volume = 'self.audio_speaker.set_volume';

  it('is a desired state after a preview, and shows who is out of sync', async () => {
    const agent = await connectAgent(hub, { key });
    const { tools } = await agent.listTools();
    const request = { name: 'Quiet lobby', tool: volume, arguments: { volume: 25 }, group: 'Lobby' };
    const preview = await checked(agent, tools, 'create_desired_state', request);
    expect(preview).toMatchObject({ preview: true, devices: boxCount + brokenCount, inSync: 0, conflicts: [] });
    const confirmed = { ...request, confirmDevices: boxCount + brokenCount, idempotencyKey: 'quiet lobby' };
    const made = (await checked(agent, tools, 'create_desired_state', confirmed)) as { desiredState: string };
    expect(await checked(agent, tools, 'create_desired_state', confirmed)).toEqual(made);
    const shown = () => checked(agent, tools, 'desired_states', { id: made.desiredState });
    await eventually(shown, (state) => JSON.stringify(state).includes(`"IN_SYNC":${boxCount}`), 30_000);
    expect(await shown()).toMatchObject({
      desiredStates: [{ name: 'Quiet lobby', byState: { IN_SYNC: boxCount, WAITING_DEVICE: brokenCount } }],
    });
    expect(await checked(agent, tools, 'desired_states', {})).toMatchObject({ more: false });
    const louder = { ...request, name: 'Loud lobby', arguments: { volume: 90 } };
    expect(await checked(agent, tools, 'create_desired_state', louder)).toMatchObject({
      conflicts: [{ name: 'Quiet lobby' }],
    });
    const id = made.desiredState;
    await ask(hub, 'mutation ($id: ID!) { deleteDesiredState(id: $id) { deletedId } }', { id });
    await agent.close();
  });

  it('is a recurring job after a preview with its next times', async () => {
    const agent = await connectAgent(hub, { key });
    const { tools } = await agent.listTools();
    const request = {
      name: 'Quiet nights',
      tool: volume,
      arguments: { volume: 10 },
      group: 'Lobby',
      cron: '0 22 * * *',
      timeZone: 'Asia/Shanghai',
    };
    const preview = (await checked(agent, tools, 'create_recurring_job', request)) as { nextRuns: string[] };
    expect(preview).toMatchObject({ preview: true, devices: boxCount + brokenCount, online: boxCount });
    expect(preview.nextRuns.map((time) => time.slice(11, 16))).toEqual(Array(5).fill('14:00'));
    const confirmed = { ...request, confirmDevices: boxCount + brokenCount };
    const { recurringJob: id } = (await checked(agent, tools, 'create_recurring_job', confirmed)) as {
      recurringJob: string;
    };
    expect(await checked(agent, tools, 'recurring_jobs', { id })).toMatchObject({
      recurringJobs: [{ name: 'Quiet nights', enabled: true, jobs: [] }],
    });
    expect(await checked(agent, tools, 'recurring_jobs', {})).toMatchObject({ more: false });
    await ask(hub, 'mutation ($id: ID!) { deleteRecurringJob(id: $id) { deletedId } }', { id });
    await agent.close();
  });
});

describe('"Restart every offline esp-box in the lobby at 3 am"', () => {
  it('is a scheduled job after three calls, in a transcript that stays short', async () => {
    const agent = await connectAgent(hub, { key });
    const { started, transcript } = await restartOffline(agent, { group: 'Lobby', model: 'esp-box' }, scheduledAtThree);
    expect(started).toMatchObject({ state: 'SCHEDULED', devices: brokenCount });
    expect(new Date(started.startAt).toISOString()).toMatch(/T19:00:00/);
    expect(transcript.calls).toHaveLength(3);
    const { listing, calls } = sizesOf(transcript);
    // docs/agents.md states these bounds.
    expect(listing).toBeLessThan(20_000);
    expect(calls).toBeLessThan(4_000);
    expect((await steerJob(hub, 'cancelJob', started.job)).userErrors).toEqual([]);
    await agent.close();
  });

  it('reaches the devices when they connect after the start', async () => {
    const agent = await connectAgent(hub, { key });
    // On a busy machine, the calls until the job is confirmed take seconds.
    const soon = (now: number) => new Date(now + 6_000).toISOString();
    const { started } = await restartOffline(agent, { group: 'Lobby', model: 'esp-box' }, ({ now }) =>
      soon(Date.parse(now)),
    );
    const waiting = async () =>
      (await agent.callTool({ name: 'job_status', arguments: { job: started.job } })).structuredContent;
    await eventually(waiting, (status) => JSON.stringify(status).includes(`"waitingDevice":${brokenCount}`));
    broken = startBroken();
    expect(await finished(hub, started.job)).toMatchObject({
      conclusion: 'SUCCEEDED',
      progress: { total: brokenCount, succeeded: brokenCount },
    });
    await agent.close();
  });
});
