/**
 * Text that PostgreSQL and devices cannot take is refused with a reason on every path, and never as
 * an internal error.
 */
import type { GraphQLField, GraphQLSchema } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askMcp } from '../src/agents/ask-mcp.js';
import { ask, send, subscriptions, type GraphqlAnswer } from '../src/api/graphql-client.js';
import { servedSchema } from '../src/api/schema/graphql-schema.js';
import { requestsWith, textPaths, type Harmless, type TextRequest } from '../src/api/string-inputs.js';
import { callTool, deviceThat, eventsOf } from '../src/devices/device-api.js';
import { answerTo, notification, requestIn } from '../src/devices/firmware.js';
import { RawMqttDevice } from '../src/devices/raw-mqtt-device.js';
import { eventually } from '../src/eventually.js';
import { inLanes } from '../src/in-lanes.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { online } from '../src/jobs/job-api.js';

/** What no place takes, and how the refusal names it. */
const unstorable: Readonly<Record<string, readonly [text: string, reason: string]>> = {
  NUL: ['a\0b', 'NUL (U+0000)'],
  'a high surrogate': ['a\ud83d', 'lone surrogate U+D83D'],
  'a low surrogate': ['\ude00b', 'lone surrogate U+DE00'],
  'a pair in reverse': ['\ude00\ud83d', 'lone surrogate U+DE00'],
};
/** What a place may take or refuse. */
const storable = [
  'x'.repeat(20_000),
  '\uFFFF',
  '\uFFFD\uFEFF',
  '\u202Eabc\u200F',
  '\u0001\u001b[31m\u007f',
  '💡'.repeat(300),
  "'; --\\\\u0000",
];

/** Requests under way at a time. */
const LANES = 12;

let hub: HubProcess;
let fleet: SimulatedFleet;
let schema: GraphQLSchema;
let harmless: Harmless;

beforeAll(async () => {
  hub = await startHub();
  fleet = startFleet(hub, { devices: 1 });
  await online(hub, 1);
  schema = await servedSchema(hub);
  const tool = 'self.get_device_status';
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
  const { devices } = await ask<{ devices: { nodes: { id: string }[] } }>(
    hub,
    '{ devices(first: 1) { nodes { id } } }',
  );
  const deviceId = devices.nodes[0]?.id;
  harmless = {
    deviceId,
    tool,
    pattern: 'self.*',
    url: 'https://example.com/',
    expiresAt,
    devices: { all: true },
    filter: { all: true },
  };
});

afterAll(async () => {
  await fleet.stop();
  expect(await hub.stop()).toBe(0);
  removeDataDir(hub.dataDir);
});

function fieldsOf(operation: 'query' | 'mutation' | 'subscription'): readonly GraphQLField<unknown, unknown>[] {
  const type = {
    query: schema.getQueryType(),
    mutation: schema.getMutationType(),
    subscription: schema.getSubscriptionType(),
  }[operation];
  return Object.values(type?.getFields() ?? {});
}

/** Every place that takes text, with this text in it. */
function requestsOf(operation: 'query' | 'mutation' | 'subscription', text: string): readonly TextRequest[] {
  return fieldsOf(operation).flatMap((field) =>
    textPaths(field).flatMap((path) => requestsWith(operation, field, { path, text, harmless })),
  );
}

const codesOf = ({ errors = [] }: Pick<GraphqlAnswer, 'errors'>) => errors.map(({ extensions }) => extensions?.code);

describe('text in any argument of the served schema', () => {
  it.each(Object.entries(unstorable))('%s is BAD_USER_INPUT', async (_what, [text, reason]) => {
    const requests = [...requestsOf('query', text), ...requestsOf('mutation', text)];
    expect(requests.length).toBeGreaterThan(150);
    const wrong: unknown[] = [];
    await inLanes(LANES, requests, async ({ query, variables }) => {
      const { data, errors = [] } = await send(hub, query, variables);
      const isRefused = codesOf({ errors }).join() === 'BAD_USER_INPUT' && errors[0]?.message.includes(reason) === true;
      if (!isRefused || data) wrong.push({ query, variables, data, errors });
    });
    expect(wrong).toEqual([]);
  });

  it('that is only unusual is never an internal error', async () => {
    const requests = storable.flatMap((text) => [...requestsOf('query', text), ...requestsOf('mutation', text)]);
    const wrong: unknown[] = [];
    await inLanes(LANES, requests, async ({ query, variables }) => {
      const answer = await send(hub, query, variables);
      if (codesOf(answer).some((code) => code === undefined || code === 'INTERNAL'))
        wrong.push({ query, variables, answer });
    });
    expect(wrong).toEqual([]);
  });

  it.each<[string, ...unknown[]]>([
    ['devices', 'devices ID_ASC', 'a\0'],
    ['devices', 'devices ID_ASC', '\ud800'],
    ['devices(orderBy: NAME_ASC)', 'devices NAME_ASC', 0, 'a\0', 'id'],
    ['devices(orderBy: LAST_SEEN_DESC)', 'devices LAST_SEEN_DESC', 'yesterday', 'id'],
    ['tools', 'tools', 'self.x', '\0'],
    ['deviceGroups', 'device-groups', '\0'],
  ])('in a cursor of %s that the hub did not make is BAD_USER_INPUT', async (list, ...key) => {
    const after = Buffer.from(JSON.stringify(key)).toString('base64url');
    const [name = '', rest = ''] = list.split('(');
    const answer = await send(
      hub,
      `{ ${name}(after: "${after}"${rest === '' ? ')' : `, ${rest}`} { nodes { __typename } } }`,
    );
    expect(codesOf(answer)).toEqual(['BAD_USER_INPUT']);
    expect(answer.errors?.[0]?.message).toContain('cursor');
  });

  it('is refused over a WebSocket, too', async () => {
    for (const [text, reason] of Object.values(unstorable)) {
      for (const { query, variables } of [
        ...requestsOf('subscription', text),
        ...requestsOf('mutation', text).slice(0, 10),
      ]) {
        const client = subscriptions(hub);
        const answer = client.iterate({ query, variables }).next();
        await expect(answer, query).rejects.toMatchObject([
          { message: expect.stringContaining(reason), extensions: { code: 'BAD_USER_INPUT' } },
        ]);
        await client.dispose();
      }
    }
  });
});

describe('text beside GraphQL', () => {
  const authorized = () => ({ authorization: `Bearer ${hub.adminKey}` });
  const refusal = { code: 'BAD_USER_INPUT', message: expect.stringMatching(/NUL|surrogate/) };

  it.each(['/api/jobs/a%00/results.csv', '/api/uploads/%00', '/api/audit.jsonl?since=%00', '/api/audit.jsonl?%00=1'])(
    'is refused in the address %s',
    async (path) => {
      const response = await fetch(`${hub.httpUrl}${path}`, { headers: authorized() });
      expect([response.status, await response.json()]).toEqual([400, refusal]);
    },
  );

  it.each([
    ['a field', 'version', 'filename="image.bin"'],
    ['the name of the file', 'kind', "filename*=UTF-8''ima%00ge.bin"],
  ])('is refused in %s of a form', async (_where, field, fileName) => {
    const line = (name: string, more = '') => `--edge\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`;
    const value = field === 'version' ? '1.0\0' : 'FIRMWARE';
    const body = `${line(field)}${value}\r\n${line('file', `; ${fileName}`)}bytes\r\n--edge--\r\n`;
    const headers = { ...authorized(), 'content-type': 'multipart/form-data; boundary=edge' };
    const response = await fetch(`${hub.httpUrl}/api/firmware`, { method: 'POST', headers, body });
    expect([response.status, await response.json()]).toEqual([400, refusal]);
  });

  it('is refused at sign-in', async () => {
    const headers = { 'content-type': 'application/json' };
    for (const body of [
      String.raw`{"email":"a\u0000@b.de","password":"x"}`,
      String.raw`{"email":"a@b.de","password":"\ud800"}`,
    ]) {
      const response = await fetch(`${hub.httpUrl}/api/sign-in`, { method: 'POST', headers, body });
      expect([response.status, await response.json()]).toEqual([400, refusal]);
    }
  });

  it.each<[string, (text: string) => object]>([
    ['tools/call', (text) => ({ name: 'call_tool', arguments: { device: 'd', tool: 't', arguments: { a: [text] } } })],
    ['tools/call', (text) => ({ name: 'call_tool_on_many', arguments: { search: text, tool: 't' } })],
    ['tools/call', (text) => ({ name: text, arguments: {} })],
    ['tools/list', (text) => ({ cursor: text })],
    ['resources/read', (text) => ({ uri: `flotilla://devices/${text}` })],
  ])('is refused in %s of agents', async (method, params) => {
    for (const [text] of Object.values(unstorable)) {
      const answer = await askMcp(hub, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: params(text) }));
      expect(answer).toMatchObject({ error: { code: -32602, message: expect.stringMatching(/NUL|surrogate/) } });
    }
  });
});

describe('text of devices', () => {
  it('is kept with a replacement for what cannot be stored: tools, results, notifications and the model', async () => {
    const odd = 'a\0b\ud800c\ude00\ud83d';
    const kept = 'a\uFFFDb\uFFFDc\uFFFD\uFFFD';
    const mac = '02:00:00:00:0c:01';
    const answer = (text: string): string | undefined => {
      const request = requestIn(text);
      if (request === undefined) return undefined;
      const tool = { name: 'self.odd', description: odd, inputSchema: { type: 'object', properties: {}, title: odd } };
      const results: Readonly<Record<string, unknown>> = {
        initialize: { protocolVersion: '2024-11-05', capabilities: {}, serverInfo: { name: odd, version: odd } },
        'tools/list': { tools: [tool] },
        // Text within text: what a state or a series of samples looks like.
        'tools/call': {
          content: [
            { type: 'text', text: JSON.stringify({ [odd]: odd }) },
            { type: 'text', text: odd },
          ],
          isError: false,
        },
      };
      return answerTo(request, results[request.method]);
    };
    const device = await RawMqttDevice.connect(hub, mac, { answer });
    await deviceThat(
      hub,
      mac,
      ({ presence, tools }) => presence === 'ONLINE' && tools.some(({ name }) => name === 'self.odd'),
    );
    device.say(notification('notifications/odd', { [odd]: [odd] }));
    expect(await callTool(hub, { deviceId: mac, tool: 'self.odd' })).toMatchObject({
      outcome: 'SUCCEEDED',
      result: { text: expect.stringContaining(kept) },
    });
    const query = `query ($id: ID!) { device(id: $id) {
      model firmwareVersion tools { name description } calls { nodes { result { text } } } } }`;
    const seen = await eventually(
      () => ask<{ device: { calls: { nodes: unknown[] } } }>(hub, query, { id: mac }),
      (answered) => answered.device.calls.nodes.length > 0,
    );
    expect(seen).toMatchObject({
      device: {
        model: kept,
        firmwareVersion: kept,
        calls: { nodes: [{ result: { text: expect.stringContaining(kept) } }] },
      },
    });
    expect(JSON.stringify(seen)).toContain(kept);
    await eventually(
      () => eventsOf(hub, mac, 'device.notification'),
      (events) => JSON.stringify(events).includes(kept),
    );
    device.drop();
  });
});
