/** A scoped key: it sees only its own devices in all requests, and its changes reach no others. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectAgent } from '../src/agents/agent-client.js';
import { makeKey, scopes } from '../src/api/api-keys.js';
import { eventually } from '../src/eventually.js';
import { ask, send, subscriptions, type GraphqlAnswer } from '../src/api/graphql-client.js';
import { askForEverything, servedSchema } from '../src/api/schema/graphql-schema.js';
import type { HubProcess } from '../src/hub/hub-process.js';
import { someUuid } from '../src/devices/device-credentials.js';
import { askOta } from '../src/devices/ota-client.js';
import { finished, jobOf } from '../src/jobs/job-api.js';
import {
  callStatus,
  closeScopedFleet,
  codesOf,
  decidedOf,
  expectNoneOf,
  openScopedFleet,
  resultsOf,
  STATUS,
  type ScopedFleet,
} from '../src/devices/scoped-fleet.js';
import {
  actsOn,
  argumentsFor,
  devicesQuery,
  jobByKey,
  pastQuery,
  registerMutation,
  rerunMutation,
  saveWithFilter,
  shownToAgent,
  tagDevice,
  uploadFirmware,
  workQuery,
} from '../src/devices/scoped-requests.js';
import { notifyFrom, type SimulatedFleet } from '../src/devices/simulated-fleet.js';

let scene: ScopedFleet;
let hub: HubProcess;
let fleet: SimulatedFleet;
let own: readonly string[];
let others: readonly string[];
let key: string;
let wideJob: string;
let othersJob: string;

const asKey = (query: string, variables: Readonly<Record<string, unknown>> = {}): Promise<GraphqlAnswer> =>
  send(hub, query, variables, key);
const expectNoOthers = (answer: unknown, what?: string) => expectNoneOf(others, answer, what);

beforeAll(async () => {
  scene = await openScopedFleet();
  ({ hub, fleet, own, others, key, wideJob, othersJob } = scene);
});
afterAll(() => closeScopedFleet(scene));

describe('a scoped key', () => {
  it('sees its own devices, counts them, and no others', async () => {
    const { data } = await asKey(devicesQuery, { other: others[0] });
    expect(data).toMatchObject({
      viewer: { devices: { tags: ['lab'] } },
      devices: { totalCount: 2 },
      all: { totalCount: 2 },
      none: { totalCount: 0 },
      device: null,
      deviceGroups: { nodes: [{ name: 'listed' }] },
    });
    const devices = { nodes: own.map((id) => ({ id })) };
    const group = { name: 'listed', deviceCount: 2, filter: { ids: own }, devices };
    expect(data).toMatchObject({ devices: { nodes: own.map((id) => ({ id, groups: [group] })) } });
    const { tools } = data as { tools: { nodes: { deviceCount: number }[] } };
    expect(tools.nodes.reduce((sum, { deviceCount }) => sum + deviceCount, 0)).toBe(2);
  });

  it('receives no other device from any field', async () => {
    const schema = await servedSchema(hub);
    const ids: Readonly<Record<string, string>> = {
      job: wideJob,
      device: own[0] ?? '',
      call: await callStatus(hub, own[0] ?? ''),
    };
    for (const field of Object.values(schema.getQueryType()?.getFields() ?? {})) {
      const argument = argumentsFor(field, ids[field.name]);
      if (argument === undefined) continue;
      const answer = await askForEverything(asKey, field, { argument, levels: 3 });
      expect([undefined, ['FORBIDDEN']], field.name).toContainEqual(codesOf(answer));
      expectNoOthers(answer, field.name);
    }
  });

  it('sees no id of another device in the filter of a rule, a desired state or a recurring job', async () => {
    const devices = { any: [{ ids: [...own, ...others] }] };
    const id = await saveWithFilter(hub, devices, key);
    const ofKey = { any: [{ ids: own }] };
    const query = `query ($id: ID!) { recordingRules { devices } recurringJobs { nodes { job } }
      desiredState(id: $id) { devices edits { input } } }`;
    const { data } = await eventually(
      () => asKey(query, { id }),
      (answer) => answer.data?.['desiredState'] !== null,
    );
    expect(data).toMatchObject({
      recurringJobs: { nodes: [{ job: { devices: ofKey } }] },
      desiredState: { devices: ofKey, edits: [{ input: { devices: ofKey } }] },
    });
    expect((data as { recordingRules: unknown[] }).recordingRules).toContainEqual({ devices: ofKey });
    const shown = await shownToAgent(hub, key, ['desired_states', 'recurring_jobs']);
    for (const each of shown) expect(JSON.stringify(each)).toContain(own[0]);
    expectNoOthers([data, shown]);
  });

  it('finds only calls, events and jobs of its devices', async () => {
    const theirs = await callStatus(hub, others[0] ?? '');
    const { data } = await asKey(workQuery, { theirs, job: othersJob, wide: wideJob });
    expect(data).toMatchObject({ call: null, job: null, jobs: { nodes: [{ id: wideJob }] } });
    expect(data).toMatchObject({
      wide: {
        progress: { total: 2, succeeded: 2 },
        targets: { nodes: own.map((id) => ({ deviceId: id, device: { id } })) },
      },
    });
    const { calls, events } = data as Record<'calls' | 'events', { nodes: { deviceId: string | null }[] }>;
    expect(new Set(calls.nodes.map(({ deviceId }) => deviceId))).toEqual(new Set(own));
    expect(new Set(events.nodes.map(({ deviceId }) => deviceId))).toEqual(new Set(own));
    const exported = await resultsOf(hub, wideJob, 'jsonl', key);
    const lines = (await exported.text()).trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { deviceId: string }).deviceId)).toEqual(own);
    const refused = await resultsOf(hub, othersJob, 'csv', key);
    expect(refused.status).toBe(404);
  });

  it('sees nothing of what a device did before it came into the view', async () => {
    const device = others.at(-1) ?? '';
    const before = await callStatus(hub, device);
    const job = await jobOf(hub, { tool: STATUS, devices: { ids: [device] } }, randomUUID());
    await finished(hub, job);
    await tagDevice(hub, device, { add: ['moved'] });
    const late = (await makeKey(hub, scopes, { devices: { tags: ['moved'] } })).secret;
    const after = await callStatus(hub, device);
    const { data } = await send(hub, pastQuery, { id: device, before, job }, late);
    const calls = { nodes: [{ id: after }] };
    const ofDevice = { id: device, sessions: [], calls };
    expect(data).toMatchObject({ call: null, calls, job: null, jobs: { nodes: [] }, device: ofDevice });
    expect((await resultsOf(hub, job, 'jsonl', late)).status).toBe(404);
  });

  it('creates jobs only for its devices, and they stay within its access scope', async () => {
    const { data } = await asKey(
      `{ previewJob(input: {tool: "${STATUS}", devices: {all: true}}) { targetCount onlineCount sample { id } } }`,
    );
    expect(data).toEqual({ previewJob: { targetCount: 2, onlineCount: 2, sample: own.map((id) => ({ id })) } });
    const made = await jobByKey(hub, key, { tool: STATUS, devices: { all: true } });
    expect((await finished(hub, made)).progress).toMatchObject({ total: 2, succeeded: 2 });
    const inverted = await jobByKey(hub, key, { tool: STATUS, devices: { not: { ids: own } } });
    expect((await finished(hub, inverted)).progress).toMatchObject({ total: 0 });
    const again = (await asKey(rerunMutation, { id: wideJob, key: randomUUID() })).data as {
      rerunJob: { job: { id: string } };
    };
    expect((await finished(hub, again.rerunJob.job.id)).progress).toMatchObject({ total: 2 });
    expect((await asKey(rerunMutation, { id: othersJob, key: randomUUID() })).data).toEqual({
      rerunJob: { job: null, userErrors: [{ code: 'NOT_FOUND' }] },
    });
  });

  it('steers its own jobs and those that are all its own, and none that is wider', async () => {
    const later = { startAt: new Date(Date.now() + 3_600_000).toISOString() };
    const pause = 'mutation ($id: ID!) { pauseJob(id: $id) { job { state } userErrors { code } } }';
    const cancel = 'mutation ($id: ID!) { cancelJob(id: $id) { job { id } userErrors { code } } }';
    expect(codesOf(await asKey(pause, { id: wideJob }))).toEqual(['FORBIDDEN']);
    expect((await asKey(pause, { id: othersJob })).data).toEqual({
      pauseJob: { job: null, userErrors: [{ code: 'NOT_FOUND' }] },
    });
    const ownJob = await jobOf(hub, { tool: STATUS, devices: { ids: own } }, randomUUID());
    await finished(hub, ownJob);
    expect((await asKey(cancel, { id: ownJob })).data).toMatchObject({
      cancelJob: { job: { id: ownJob }, userErrors: [] },
    });
    const made = await jobByKey(hub, key, { tool: STATUS, devices: { all: true }, ...later });
    expect((await asKey(cancel, { id: made })).data).toMatchObject({ cancelJob: { userErrors: [] } });
  });

  it('changes and calls none but its own devices', async () => {
    const other = others[0] ?? '';
    const before = await fleet.counts();
    const refused = async (act: string) => (await asKey(`mutation { it: ${act} { userErrors { code } } }`)).data;
    for (const act of actsOn(other))
      expect(await refused(act), act).toEqual({ it: { userErrors: [{ code: 'NOT_FOUND' }] } });
    expect((await fleet.counts()).tools).toEqual(before.tools);
    const tag = 'mutation { tagDevices(input: {filter: {all: true}, add: ["seen"]}) { changedCount } }';
    expect((await asKey(tag)).data).toEqual({ tagDevices: { changedCount: 2 } });
    const named = await ask<object>(hub, 'query ($id: ID!) { device(id: $id) { name tags } }', { id: other });
    expect(named).toEqual({ device: { name: null, tags: [] } });
  });

  it('adds devices to its own only, and nothing that is the whole fleet’s', async () => {
    const device = (deviceId: string, tags: readonly string[]) => ({ deviceId, dialect: 'XIAOZHI', tags });
    const [inside, outside] = [device('02:aa:00:00:00:01', ['lab']), device('02:aa:00:00:00:02', ['office'])];
    expect(codesOf(await asKey(registerMutation, { input: [inside, outside] }))).toEqual(['FORBIDDEN']);
    expect((await asKey(registerMutation, { input: [inside] })).data).toEqual({
      registerDevices: { devices: [{ id: inside.deviceId }], userErrors: [] },
    });
    // Its own that is there is a conflict; what is another's is as if it were not to be had.
    const conflict = { registerDevices: { devices: [], userErrors: [{ code: 'CONFLICT' }] } };
    expect((await asKey(registerMutation, { input: [inside] })).data).toEqual(conflict);
    expect(codesOf(await asKey(registerMutation, { input: [device(others[0] ?? '', ['lab'])] }))).toEqual([
      'FORBIDDEN',
    ]);
    await ask(hub, 'mutation ($id: ID!) { removeDevice(deviceId: $id) { userErrors { code } } }', {
      id: inside.deviceId,
    });
    // What was removed, and what waits for a person, is admitted by those who see the whole fleet.
    const inQueue = device('02:aa:00:00:00:0e', ['lab']);
    const askAgain = () => askOta(hub, { mac: inQueue.deviceId, uuid: someUuid });
    expect((await askAgain()).body.activation).toBeDefined();
    for (const each of [inside, inQueue])
      expect(codesOf(await asKey(registerMutation, { input: [each] })), each.deviceId).toEqual(['FORBIDDEN']);
    expect((await askAgain()).body.activation).toBeDefined();
    for (const act of [
      'createDeviceGroup(input: {name: "g", filter: {all: true}})',
      'approveEnrolment(code: "123456")',
      'publishFirmwareImage(id: "x", models: [])',
    ])
      expect(codesOf(await asKey(`mutation { ${act} { userErrors { code } } }`)), act).toEqual(['FORBIDDEN']);
    const upload = await uploadFirmware(hub, key);
    expect(upload.status).toBe(403);
    const waiting = '{ enrolments { nodes { deviceId } } }';
    expect(await ask(hub, waiting)).toEqual({ enrolments: { nodes: [{ deviceId: inQueue.deviceId }] } });
    const { secret: scopedAdmin } = await makeKey(hub, ['ADMIN'], { devices: { tags: ['lab'] } });
    for (const scoped of [key, scopedAdmin])
      expect((await send(hub, waiting, {}, scoped)).data).toEqual({ enrolments: { nodes: [] } });
  });

  it('receives events only of its devices', async () => {
    const client = subscriptions(hub, key);
    const next = client.iterate<{ eventAdded: { node: { deviceId: string } } }>({
      query: 'subscription { eventAdded(filter: {types: ["device.notification"]}) { node { deviceId } } }',
    });
    const heard = next.next();
    const notify = (device: string) => notifyFrom(fleet, device);
    const timer = setInterval(() => [...others, own[1] ?? ''].forEach(notify), 100);
    expect((await heard).value?.data?.eventAdded.node.deviceId).toBe(own[1]);
    expect((await next.next()).value?.data?.eventAdded.node.deviceId).toBe(own[1]);
    clearInterval(timer);
    const theirs = client.iterate({ query: `subscription { jobProgress(jobId: "${othersJob}") { id } }` });
    await expect(theirs.next().then(({ value }) => value as unknown)).resolves.toMatchObject({
      errors: [{ extensions: { code: 'NOT_FOUND' } }],
    });
    const wide = client.iterate({ query: `subscription { jobProgress(jobId: "${wideJob}") { progress { total } } }` });
    expect((await wide.next()).value).toEqual({ data: { jobProgress: { progress: { total: 2 } } } });
    // Slow enough to follow the job before a decision; the key sees it once its targets exist.
    await fleet.perform({ cmd: 'behaviour', device: '*', behaviour: { kind: 'slow', tool: STATUS, ms: 1_500 } });
    const running = await jobOf(hub, { tool: STATUS, devices: { all: true } }, randomUUID());
    await eventually(
      () => asKey('query ($id: ID!) { job(id: $id) { id } }', { id: running }),
      ({ data }) => data?.['job'] !== null,
    );
    expect(await decidedOf(client, running)).toEqual(own);
    await fleet.perform({ cmd: 'behaviour', device: '*', behaviour: { kind: 'normal' } });
    await client.dispose();
  });

  it('sees its own devices through the MCP server', async () => {
    const agent = await connectAgent(hub, { key, mode: 'compact' });
    const found = await agent.callTool({ name: 'find_devices', arguments: {} });
    expect(JSON.stringify(found)).toContain(own[0]);
    const { tools } = await agent.listTools();
    const { resources } = await agent.listResources();
    expect(resources.length).toBeGreaterThan(0);
    const described = await agent.callTool({ name: 'describe_device', arguments: { device: others[0] } });
    expect(described).toMatchObject({ isError: true });
    expectNoOthers([found, tools, resources]);
    const name = `${(others[0] ?? '').replaceAll(':', '_')}__self_get_device_status`;
    await expect(agent.callTool({ name, arguments: {} })).rejects.toThrow(/no tool/);
    await agent.close();
  });

  it('sees another device from when it matches, and no more from when it does not', async () => {
    const seen = async () =>
      ((await asKey('{ devices { totalCount } }')).data as { devices: { totalCount: number } }).devices.totalCount;
    await tagDevice(hub, others[0] ?? '', { add: ['lab'] });
    expect(await seen()).toBe(3);
    await tagDevice(hub, others[0] ?? '', { remove: ['lab'] });
    expect(await seen()).toBe(2);
  });
});
