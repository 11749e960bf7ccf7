/**
 * HTTP, WebSocket and UDP admit no client without valid credentials. The paths are those that the
 * hub reports, so a new path without a rule here fails the story.
 */
import { randomUUID } from 'node:crypto';
import { createSocket } from 'node:dgram';
import type { OutgoingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { handshake, statusOf } from '../src/api/http-status.js';
import { servedPaths } from '../src/api/served-paths.js';
import { deviceThat, eventsOf, isOnline, viewDevice } from '../src/devices/device-api.js';
import { someUuid } from '../src/devices/device-credentials.js';
import type { MqttLogin } from '../src/devices/issued-credentials.js';
import { RawWebSocketDevice, webSocketHello } from '../src/devices/raw-websocket-device.js';
import { eventually } from '../src/eventually.js';
import {
  lampMac,
  otherTalkerMac,
  removedMac,
  removedTalkerMac,
  startGuardedHub,
  stopGuardedHub,
  talkerMac,
  unseenMac,
  unseenTalkerMac,
  type GuardedHub,
} from '../src/hub/guarded-hub.js';
import type { HubProcess } from '../src/hub/hub-process.js';
import { metric } from '../src/hub/metrics.js';

let hub: HubProcess;
let guarded: GuardedHub;
let lampLogin: MqttLogin;
let talkerToken: string;
let otherTalkerToken: string;
let unseenTalkerToken: string;
let removedTalkerToken: string;

beforeAll(async () => {
  guarded = await startGuardedHub();
  ({ hub, lampLogin, talkerToken, otherTalkerToken, unseenTalkerToken, removedTalkerToken } = guarded);
});

afterAll(async () => {
  guarded.lamp.drop();
  await stopGuardedHub(hub);
});

const statusAt = (method: string, path: string, headers: OutgoingHttpHeaders = {}) =>
  statusOf(hub, { method, path, headers });

const keys = () => ({
  'no key': {},
  'a wrong key': { authorization: `Bearer ${hub.adminKey.slice(0, -1)}_` },
  'half a key': { authorization: `Bearer ${hub.adminKey.slice(0, 20)}` },
  'a malformed header': { authorization: hub.adminKey },
  'a key by another scheme': { authorization: `Basic ${Buffer.from(`admin:${hub.adminKey}`).toString('base64')}` },
  'a key of 10,000 characters': { authorization: `Bearer ${'x'.repeat(10_000)}` },
  "a device's secret": { authorization: `Bearer ${lampLogin.password.toString()}` },
  "a device's token": { authorization: `Bearer ${talkerToken}`, 'device-id': talkerMac, 'client-id': someUuid },
});

describe('WebSocket', () => {
  const upgradeOf = (headers: OutgoingHttpHeaders) => statusAt('GET', '/xiaozhi/v1/', { ...handshake, ...headers });
  const own = () => ({ 'device-id': talkerMac, 'client-id': someUuid, authorization: `Bearer ${talkerToken}` });

  it('has a rule in this file for each path', () => {
    expect([...new Set(servedPaths(hub).webSocket.map((url) => url.replace(/\/$/, '')))].sort()).toEqual([
      '/graphql',
      // Its rule is in dial-in-boards.spec.ts.
      '/mcpu/v1',
      '/mqtt',
      '/xiaozhi/v1',
    ]);
  });

  it('at /xiaozhi/v1/ admits only the device itself', async () => {
    const attempts: readonly (readonly [string, OutgoingHttpHeaders, number])[] = [
      ['none', { ...own(), authorization: '' }, 401],
      ['a wrong token', { ...own(), authorization: `Bearer ${talkerToken}x` }, 401],
      ['half a token', { ...own(), authorization: `Bearer ${talkerToken.slice(0, 10)}` }, 401],
      ["another device's token", { ...own(), authorization: `Bearer ${otherTalkerToken}` }, 401],
      ["another device's id", { ...own(), 'device-id': otherTalkerMac }, 401],
      ['another Client-Id', { ...own(), 'client-id': someUuid.replace('3', '4') }, 401],
      ["an MQTT device's secret", { ...own(), authorization: `Bearer ${lampLogin.password.toString()}` }, 401],
      ["the admin's key", { ...own(), authorization: `Bearer ${hub.adminKey}` }, 401],
      ['a device that is not known', { ...own(), 'device-id': '02:00:00:00:0a:99' }, 401],
      ['a registered device that was never seen', { ...own(), 'device-id': unseenTalkerMac }, 401],
      ['a removed device', { ...own(), 'device-id': removedTalkerMac }, 401],
      [
        "a removed device's own token",
        { ...own(), 'device-id': removedTalkerMac, authorization: `Bearer ${removedTalkerToken}` },
        401,
      ],
      ['a device id that is not a MAC', { ...own(), 'device-id': 'lamp' }, 400],
      ['no Client-Id', { ...own(), 'client-id': '' }, 400],
    ];
    for (const [what, headers, status] of attempts) expect(await upgradeOf(headers), what).toBe(status);
    // Names may come in the query, secrets may not.
    const names = `device-id=${talkerMac}&client-id=${someUuid}`;
    const query = `?${names}&token=${talkerToken}&authorization=Bearer%20${talkerToken}`;
    expect(await statusAt('GET', `/xiaozhi/v1/${query}`, handshake)).toBe(401);
    expect(await upgradeOf(own())).toBe(101);
  });

  it('allows a device with its token to take over its session, and reports that', async () => {
    const connect = async () => {
      const device = await RawWebSocketDevice.dial(hub, talkerMac, own());
      device.say(webSocketHello);
      return device;
    };
    const first = await connect();
    await deviceThat(hub, talkerMac, isOnline);
    expect(await upgradeOf({ ...own(), authorization: `Bearer ${otherTalkerToken}` })).toBe(401);
    expect(first.isClosed).toBe(false);
    const second = await connect();
    await first.closed();
    await eventually(
      () => eventsOf(hub, talkerMac, 'device.disconnected'),
      (events) => events.some(({ reason }) => reason === 'taken_over'),
    );
    second.drop();
  });

  it('at /graphql closes without any data', async () => {
    for (const [what, { authorization }] of Object.entries(keys()) as [string, { authorization?: string }][]) {
      const socket = new WebSocket(`${hub.httpUrl.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
      const heard: string[] = [];
      socket.on('message', (data: Buffer) => heard.push(data.toString()));
      socket.on('open', () => {
        socket.send(
          JSON.stringify({ type: 'connection_init', payload: authorization === undefined ? {} : { authorization } }),
        );
        socket.send(
          JSON.stringify({ type: 'subscribe', id: '1', payload: { query: 'subscription { deviceChanged { id } }' } }),
        );
      });
      const code = await new Promise<number>((resolve) => socket.once('close', resolve));
      expect([4401, 4403], what).toContain(code);
      expect(heard, what).toEqual([]);
    }
  });
});

const secrets = () => [
  ...[lampLogin, guarded.otherLogin, guarded.unseenLogin, guarded.removedLogin].flatMap(({ clientId, password }) => [
    clientId,
    password.toString(),
  ]),
  unseenTalkerToken,
  otherTalkerToken,
];

type Rule = (method: string, url: string) => Promise<void>;

/** The answer is one of these for all keys. */
const refuses =
  (...statuses: readonly number[]): Rule =>
  async (method, url) => {
    for (const [what, headers] of Object.entries(keys()))
      expect(statuses, `${method} ${url} with ${what}`).toContain(await statusAt(method, url, headers));
  };

const isPublic: Rule = async (method, url) => expect(await statusAt(method, url)).toBe(200);

/**
 * Answers without a secret, and the same to a stranger, a device with a wrong Client-Id, a
 * registered one that was never seen, and a removed one.
 */
const hasNoSecret: Rule = async (method, url) => {
  const wrong = { 'client-id': someUuid.replace('3', '5') };
  const shapes = new Set<string>();
  for (const headers of [
    {},
    ...['02:00:00:00:0a:77', lampMac, otherTalkerMac, unseenMac, unseenTalkerMac, removedMac].map((mac) => ({
      'device-id': mac,
      ...wrong,
    })),
  ]) {
    const answer = await fetch(`${hub.httpUrl}${url}`, {
      method,
      headers: headers as Record<string, string>,
      ...(method === 'POST' && { body: '{}' }),
    });
    const text = await answer.text();
    expect(text).not.toMatch(/"(password|token)"/);
    for (const secret of secrets()) expect(text).not.toContain(secret);
    // Codes, challenges and times differ in each answer.
    if ('device-id' in headers)
      shapes.add(`${String(answer.status)} ${text.replace(/"(code|challenge|message)":"[^"]*"|"timestamp":\d+/g, '')}`);
  }
  expect(shapes.size, `${method} ${url}`).toBe(1);
};

/** Rules by the start of `METHOD path`; the first match counts. */
const rules: readonly (readonly [RegExp, Rule])[] = [
  // The console is the same for all visitors and contains no data of the fleet.
  [
    /^(GET|HEAD) \/(flotilla\.svg|devices|jobs|recurring|desired|firmware|enrolments|calls|alerts|measurements|events|explore|audit|access|webhooks|settings)?$/,
    isPublic,
  ],
  [/^(GET|HEAD) \/((alerts|devices|jobs|desired)\/:id(\/edit)?|oauth\/consent\/:uid)$/, isPublic],
  [/^(GET|HEAD) \/assets\/\*$/, refuses(404)],
  [/^(GET|HEAD) \/(health\/(live|ready|gateway)|api\/sign-in)$/, isPublic],
  [/^(GET|POST) \/ota(\/.*)?$/, hasNoSecret],
  [/^(GET|HEAD|POST) \/(graphql|openapi\.json)$/, refuses(401)],
  [/^(GET|POST|DELETE) \/mcp$/, refuses(401)],
  [/^OPTIONS \/mcp$/, refuses(204)], // A preflight has no key, and its answer no data.
  [/^\w+ \/api\/sign-in(\/oidc(\/callback)?)?$/, refuses(400, 404, 415)],
  // Sign-in needs a password or a provider, others below /api a key or a session, /t a token.
  [/^\w+ \/api\//, refuses(401)],
  [/^\w+ \/(t|vision|firmware)(\/|$)/, refuses(400, 401, 403, 404)],
  [/^(GET|HEAD) \/metrics$/, refuses(401)],
  // Without a public address there is no OAuth.
  [/^(GET|HEAD) \/\.well-known\//, refuses(404)],
];

describe('HTTP', () => {
  /** Replaces `:id` and `*` by names that do not exist. */
  const someUrl = (url: string) =>
    url.replace(/:\w+/g, '01932f3e-0000-7000-8000-000000000001').replace('*', 'does-not-exist');

  it('follows the rule of each path', async () => {
    const routes = servedPaths(hub).http;
    expect(routes).toContain('POST /graphql');
    for (const route of routes) {
      const [method = '', url = ''] = route.split(' ');
      const rule = rules.find(([pattern]) => pattern.test(route))?.[1];
      if (rule === undefined)
        throw new Error(`${route} has no rule in this story. Add one: who may use it, and what does a stranger get?`);
      await rule(method, someUrl(url));
    }
  });

  it('has no other paths', async () => {
    for (const url of [
      '/admin',
      '/.env',
      '/graphiql',
      '/api',
      '/api/',
      '/../etc/passwd',
      '/.flotilla/admin.key',
      '/ota/../metrics/',
      '/GRAPHQL',
      '/graphql/schema',
    ])
      for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'TRACE'])
        // The OTA endpoint accepts all paths that begin with it, and returns no secret.
        if (!url.startsWith('/ota'))
          expect([400, 401, 404, 405, 415], `${method} ${url}`).toContain(await statusAt(method, url));
  });

  it('answers no GraphQL operation', async () => {
    for (const query of [
      '{ __schema { types { name } } }',
      '{ devices { totalCount } }',
      'mutation { removeDevice(deviceId: "x") { userErrors { code } } }',
      '{',
    ])
      for (const [what, headers] of Object.entries(keys())) {
        const answer = await fetch(`${hub.httpUrl}/graphql`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...(headers as Record<string, string>) },
          body: JSON.stringify({ query }),
        });
        expect(answer.status, what).toBe(401);
        expect((await answer.json()) as object, what).not.toHaveProperty('data');
      }
    expect(await viewDevice(hub, lampMac)).not.toBeNull();
  });
});

describe('a registered device that was never seen', () => {
  it('can connect after the attempts of strangers', async () => {
    const headers = {
      'device-id': unseenTalkerMac,
      'client-id': randomUUID(),
      authorization: `Bearer ${unseenTalkerToken}`,
    };
    expect(await statusAt('GET', '/xiaozhi/v1/', { ...handshake, ...headers })).toBe(101);
  });
});

describe('UDP', () => {
  it('answers no stranger', async () => {
    const dropped = () => metric(hub, 'flotilla_gateway_events_total', 'name="udp_packets_dropped"');
    const socket = createSocket('udp4');
    let answers = 0;
    socket.on('message', () => (answers += 1));
    const before = await dropped();
    const datagrams = [Buffer.alloc(0), Buffer.alloc(16, 1), Buffer.from(webSocketHello), Buffer.alloc(1_400, 0xff)];
    for (const bytes of datagrams)
      await new Promise((resolve) => socket.send(bytes, hub.udpPort, '127.0.0.1', resolve));
    await eventually(dropped, (count) => count === before + datagrams.length);
    expect(answers).toBe(0);
    socket.close();
  });
});
