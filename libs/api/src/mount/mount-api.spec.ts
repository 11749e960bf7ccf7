import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Actor, CallRequest, JobRequest, RolloutRequest } from '@flotilla/fleet';
import { openApi, tool, type OpenApi } from './mounted-api.suite.js';

let api: OpenApi;
const calls: (readonly [CallRequest, Actor])[] = [];
const jobs: (readonly [JobRequest | RolloutRequest, string, Actor])[] = [];

beforeAll(async () => {
  api = await openApi({
    callTool: async (request, actor) => {
      calls.push([request, actor]);
      return { refusal: { code: 'TOOL_UNKNOWN', message: 'No such tool.', path: ['input', 'tool'] } };
    },
    createJob: async (request, key, actor) => {
      jobs.push([request, key, actor]);
      return { refusal: { code: 'INVALID', message: 'Not today.', path: ['input'] } };
    },
  });
  await api.addDevice('aa:00', [tool('self.get_device_status'), tool('self.reboot', true)]);
  await api.addDevice('aa:01');
  await api.addDevice('bb:00', [tool('robot.walk')]);
});

afterAll(() => api.close());

describe('devices over HTTP', () => {
  it('shows a device with its properties and tools', async () => {
    const { data, codes } = await api.ask(`{ device(id: "aa:00") {
      id name dialect model firmwareVersion presence reachability transport tags toolsStale
      tools { name description inputSchema schemaKnown userOnly policy { pattern idempotent } }
      sessions { epoch transport disconnectedAt } } }`);
    expect(codes).toEqual([]);
    expect(data).toMatchObject({
      device: {
        id: 'aa:00',
        name: null,
        dialect: 'XIAOZHI',
        model: 'esp-box-3',
        presence: 'ONLINE',
        transport: 'MQTT',
        tools: [
          { name: 'self.get_device_status', policy: { idempotent: true } },
          { name: 'self.reboot', userOnly: true },
          { name: 'hub.alert', schemaKnown: true, policy: { pattern: 'hub.alert', idempotent: true } },
          { name: 'hub.identify' },
        ],
        sessions: [{ epoch: 1, disconnectedAt: null }],
      },
    });
  });

  it('answers null for a device that it does not know', async () => {
    expect(await api.ask('{ device(id: "zz") { id } }')).toMatchObject({ data: { device: null }, codes: [] });
  });

  it('pages through a list with cursors, and counts it when asked', async () => {
    const query = `query ($after: String) { devices(first: 2, after: $after) {
        totalCount nodes { id } edges { cursor } pageInfo { hasNextPage endCursor } } }`;
    const first = await api.ask(query);
    expect(first.data).toMatchObject({
      devices: { totalCount: 3, nodes: [{ id: 'aa:00' }, { id: 'aa:01' }], pageInfo: { hasNextPage: true } },
    });
    const { endCursor } = (first.data as { devices: { pageInfo: { endCursor: string } } }).devices.pageInfo;
    const second = await api.ask(query, { after: endCursor });
    expect(second.data).toMatchObject({ devices: { nodes: [{ id: 'bb:00' }], pageInfo: { hasNextPage: false } } });
  });

  it('filters, nested and negated', async () => {
    const filter = { any: [{ hasTool: 'robot.walk' }, { search: 'AA:0', not: { ids: ['aa:01'] } }] };
    const { data } = await api.ask('query ($filter: DeviceFilter) { devices(filter: $filter) { nodes { id } } }', {
      filter,
    });
    expect(data).toEqual({ devices: { nodes: [{ id: 'aa:00' }, { id: 'bb:00' }] } });
  });

  it('answers a repeated query with a filter in a variable', async () => {
    const query = `query ($filter: DeviceFilter) { devices(filter: $filter) { nodes { id } }
        tools(filter: {devices: $filter}) { nodes { name } } }`;
    for (let time = 0; time < 5; time++) {
      const { data, codes } = await api.ask(query, { filter: { not: { search: 'aa' } } });
      expect({ data, codes }).toEqual({
        data: {
          devices: { nodes: [{ id: 'bb:00' }] },
          tools: { nodes: [{ name: 'hub.alert' }, { name: 'hub.identify' }, { name: 'robot.walk' }] },
        },
        codes: [],
      });
    }
  });

  it('shows user-only tools only to keys that may call them', async () => {
    const query = '{ device(id: "aa:00") { tools { name } } tools(filter: {userOnly: true}) { nodes { name } } }';
    const plain = await api.ask(query, {}, ['DEVICES_READ']);
    expect(plain.data).toEqual({
      device: { tools: [{ name: 'self.get_device_status' }, { name: 'hub.alert' }, { name: 'hub.identify' }] },
      tools: { nodes: [] },
    });
    const privileged = await api.ask(query, {}, ['DEVICES_READ', 'TOOLS_CALL_PRIVILEGED']);
    expect(privileged.data).toMatchObject({
      device: { tools: [{}, { name: 'self.reboot' }, { name: 'hub.alert' }, { name: 'hub.identify' }] },
      tools: { nodes: [{ name: 'self.reboot' }] },
    });
  });

  it('renames and tags a device, and notifies subscribers', async () => {
    const told = new Promise((resolve) => api.feed.subscribe('device', ({ deviceId }) => resolve(deviceId)));
    const query = `mutation ($input: UpdateDeviceInput!) { updateDevice(input: $input) {
        device { name tags } userErrors { code path } } }`;
    const { data } = await api.ask(query, { input: { deviceId: 'aa:01', name: 'Door', tags: ['b', 'a', 'b'] } });
    expect(data).toMatchObject({
      updateDevice: { device: { name: 'Door', tags: expect.arrayContaining(['a', 'b']) }, userErrors: [] },
    });
    expect(await told).toBe('aa:01');
    const renamed = await api.ask(query, { input: { deviceId: 'aa:01', name: null } });
    expect(renamed.data).toMatchObject({
      updateDevice: { device: { name: null, tags: expect.arrayContaining(['a', 'b']) } },
    });
  });

  it('refuses unknown devices and invalid names', async () => {
    const query = `mutation ($input: UpdateDeviceInput!) { updateDevice(input: $input) {
        device { id } userErrors { code path } } }`;
    const unknown = await api.ask(query, { input: { deviceId: 'zz', name: 'x' } });
    expect(unknown.data).toEqual({
      updateDevice: { device: null, userErrors: [{ code: 'NOT_FOUND', path: ['input', 'deviceId'] }] },
    });
    const bad = await api.ask(query, { input: { deviceId: 'aa:01', tags: ['two words'] } });
    expect(bad.data).toEqual({
      updateDevice: { device: null, userErrors: [{ code: 'INVALID', path: ['input', 'tags'] }] },
    });
  });

  it('tags by filter, but not by a filter without a condition', async () => {
    const query = `mutation ($filter: DeviceFilter!) { tagDevices(input: {filter: $filter, add: ["lab"]}) {
        changedCount userErrors { code path } } }`;
    const tagged = await api.ask(query, { filter: { search: 'aa' } });
    expect(tagged.data).toEqual({ tagDevices: { changedCount: 2, userErrors: [] } });
    for (const filter of [{}, { all: false }, { any: [] }, { search: '' }]) {
      const refused = await api.ask(query, { filter });
      expect(refused.data).toMatchObject({ tagDevices: { changedCount: 0, userErrors: [{ code: 'INVALID' }] } });
    }
  });

  it('notifies subscribers of each device with changed tags, and names the device with too many', async () => {
    const told = new Promise((resolve) => api.feed.subscribe('device', ({ deviceId }) => resolve(deviceId)));
    const query = `mutation ($add: [String!]) { tagDevices(input: {filter: {ids: ["bb:00"]}, add: $add}) {
        changedCount userErrors { code message path } } }`;
    expect((await api.ask(query, { add: ['one'] })).data).toEqual({ tagDevices: { changedCount: 1, userErrors: [] } });
    expect(await told).toBe('bb:00');
    const { data } = await api.ask(query, { add: Array.from({ length: 50 }, (_, index) => `t${index}`) });
    const message = expect.stringContaining('"bb:00" would have more than 50 tags');
    expect(data).toEqual({
      tagDevices: { changedCount: 0, userErrors: [{ code: 'LIMIT_EXCEEDED', message, path: ['input', 'add'] }] },
    });
  });
});

describe('mutations over HTTP', () => {
  it('passes a call to the fleet with the key as actor, and returns its refusal', async () => {
    const query = `mutation { callTool(input: {
      deviceId: "aa:00", tool: "self.x", arguments: {volume: 3}, timeoutMs: null}) {
      call { id } userErrors { code message path } } }`;
    const { data } = await api.ask(query, {}, ['TOOLS_CALL']);
    expect(data).toEqual({
      callTool: {
        call: null,
        userErrors: [{ code: 'TOOL_UNKNOWN', message: 'No such tool.', path: ['input', 'tool'] }],
      },
    });
    expect(calls.at(-1)).toEqual([
      { deviceId: 'aa:00', tool: 'self.x', arguments: { volume: 3 } },
      {
        id: 'KEY:key:TOOLS_CALL',
        name: 'key:TOOLS_CALL',
        mayCallTools: true,
        mayCallUserOnly: false,
        mayChangeFirmware: false,
        remoteAddress: '127.0.0.1',
      },
    ]);
  });

  it('refuses arguments that are no object before the fleet sees them', async () => {
    const before = calls.length;
    const { codes, messages } = await api.ask(
      'mutation { callTool(input: {deviceId: "a", tool: "t", arguments: [1]}) { call { id } } }',
    );
    expect(codes).toEqual(['BAD_USER_INPUT']);
    expect(messages).toEqual([expect.stringContaining('"input.arguments" must be a JSON object')]);
    expect(calls).toHaveLength(before);
  });

  it('hands a job to the fleet, with the defaults of the schema and without nulls', async () => {
    const query = `mutation ($input: CreateJobInput!) { createJob(input: $input, idempotencyKey: "k1") {
        job { id } userErrors { code } } }`;
    const { data } = await api.ask(query, {
      input: { tool: 'self.reboot', devices: { all: true }, maxInFlight: null },
    });
    expect(data).toEqual({ createJob: { job: null, userErrors: [{ code: 'INVALID' }] } });
    expect(jobs.at(-1)).toMatchObject([
      { tool: 'self.reboot', arguments: {}, devices: { all: true }, offline: 'WAIT', expiresInSeconds: 86_400 },
      'k1',
      {
        id: 'KEY:key:ADMIN',
        name: 'key:ADMIN',
        mayCallTools: true,
        mayCallUserOnly: true,
        mayChangeFirmware: true,
        remoteAddress: '127.0.0.1',
      },
    ]);
  });

  it('names the missing tool of a job', async () => {
    const { codes, messages } = await api.ask(
      'mutation { createJob(input: {devices: {all: true}}, idempotencyKey: "k2") { job { id } } }',
    );
    expect(codes).toEqual(['BAD_USER_INPUT']);
    expect(messages).toEqual([expect.stringContaining('input.tool')]);
  });
});

describe('look-ups', () => {
  const list = '{ devices(first: 50) { nodes { id tools { name policy { pattern } } } } }';

  it('are as many for a list of devices with tools and policies as for one', async () => {
    for (let index = 0; index < 20; index++) await api.addDevice(`cc:${index}`, [tool(`robot.step_${index % 5}`)]);
    api.lookups.length = 0;
    const { data, codes } = await api.ask(list);
    expect(codes).toEqual([]);
    expect((data as { devices: { nodes: unknown[] } }).devices.nodes.length).toBeGreaterThan(20);
    expect(api.lookups).toEqual(['devices.page', 'toolSets.getMany', 'toolPolicies.all']);
  });

  it('are one for each list that hangs on the devices of a list', async () => {
    api.lookups.length = 0;
    const { codes } = await api.ask(`{ devices(first: 10) { nodes {
      sessions(first: 2) { epoch } toolSetHistory(first: 2) { hash } events(first: 2) { nodes { id } }
      calls(first: 2) { nodes { id } } } } }`);
    expect(codes).toEqual([]);
    const batches = ['calls.pagesOf', 'devices.sessions', 'devices.toolSetHistory', 'events.pagesOf'];
    expect([...api.lookups].sort()).toEqual([...batches, 'devices.page'].sort());
  });
});
