/**
 * Nobody gets in without credentials: every listener and every path, with none, wrong, expired, another device's and malformed ones. The paths are those that the hub
 * says it serves, so that a new one without a rule here fails the story.
 */
import { randomUUID } from 'node:crypto';
import { createSocket } from 'node:dgram';
import type { OutgoingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import mqtt from 'mqtt-packet';
import { WebSocket } from 'ws';
import { callTool, deviceThat, eventsOf, isOnline, viewDevice } from '../src/devices/device-api.js';
import { clientIdOf, mqttLogin, someUuid } from '../src/devices/device-credentials.js';
import { eventually } from '../src/eventually.js';
import { ask } from '../src/api/graphql-client.js';
import { handshake, statusOf } from '../src/api/http-status.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import {
  registerMqttDevice,
  registerWebSocketDevice,
  rotateMqttCredential,
  type MqttLogin,
} from '../src/devices/issued-credentials.js';
import { metric } from '../src/hub/metrics.js';
import { RawMqttDevice } from '../src/devices/raw-mqtt-device.js';
import { servedPaths } from '../src/api/served-paths.js';
import { RawWebSocketDevice, webSocketHello } from '../src/devices/raw-websocket-device.js';

const lampMac = '02:00:00:00:0a:01';
const otherMac = '02:00:00:00:0a:02';
const talkerMac = '02:00:00:00:0a:03';
const otherTalkerMac = '02:00:00:00:0a:04';
const removedMac = '02:00:00:00:0a:05';
const unseenMac = '02:00:00:00:0a:06';
const unseenTalkerMac = '02:00:00:00:0a:07';
const removedTalkerMac = '02:00:00:00:0a:08';

let hub: HubProcess;
let lamp: RawMqttDevice;
let lampLogin: MqttLogin;
/** The lamp's former credential: void since the newer one was used. */
let expiredLogin: MqttLogin;
let otherLogin: MqttLogin;
let removedLogin: MqttLogin;
let talkerToken: string;
let otherTalkerToken: string;
/** Of devices that were registered without a proof and have never come. */
let unseenLogin: MqttLogin;
let unseenTalkerToken: string;
let removedTalkerToken: string;

async function letIn(login: MqttLogin): Promise<RawMqttDevice> {
  const device = await RawMqttDevice.dial(hub);
  device.hello(login);
  expect(await device.connack()).toBe(0);
  return device;
}

const proof = { clientId: someUuid };

beforeAll(async () => {
  hub = await startHub({ env: { FLOTILLA_DEVICE_AUTH: 'credentials', FLOTILLA_LOG_LEVEL: 'debug' } });
  expiredLogin = await registerMqttDevice(hub, lampMac, proof);
  otherLogin = await registerMqttDevice(hub, otherMac, proof);
  removedLogin = await registerMqttDevice(hub, removedMac, proof);
  talkerToken = await registerWebSocketDevice(hub, talkerMac, proof);
  otherTalkerToken = await registerWebSocketDevice(hub, otherTalkerMac, proof);
  unseenLogin = await registerMqttDevice(hub, unseenMac);
  unseenTalkerToken = await registerWebSocketDevice(hub, unseenTalkerMac);
  removedTalkerToken = await registerWebSocketDevice(hub, removedTalkerMac, proof);
  (await letIn(expiredLogin)).drop();
  lampLogin = await rotateMqttCredential(hub, lampMac);
  lamp = await letIn(lampLogin);
  await deviceThat(hub, lampMac, isOnline);
  for (const id of [removedMac, removedTalkerMac])
    await ask(hub, 'mutation ($id: ID!) { removeDevice(deviceId: $id) { userErrors { code } } }', { id });
});

afterAll(async () => {
  lamp.drop();
  expect(await hub.stop()).toBe(0);
  expect(hub.log()).not.toMatch(/unhandled|callback_threw|the broker failed/i);
  removeDataDir(hub.dataDir);
});

/** The lamp was not thrown out, and answers. */
async function expectLampUnharmed(): Promise<void> {
  expect(lamp.isClosed).toBe(false);
  expect(await callTool(hub, { deviceId: lampMac, tool: 'self.lamp.turn_on' })).toMatchObject({ outcome: 'SUCCEEDED' });
}

describe('MQTT', () => {
  const attempts = (): readonly (readonly [string, Parameters<RawMqttDevice['hello']>[0], number])[] => {
    const { clientId, username, password } = lampLogin;
    return [
      ['none', { clientId }, 5],
      ['a user name alone', { clientId, username }, 5],
      ['a wrong password', { ...lampLogin, password: Buffer.from(`${password.toString()}x`) }, 4],
      ['an empty password', { ...lampLogin, password: Buffer.alloc(0) }, 5],
      ['a password that is no text', { ...lampLogin, password: Buffer.from([0, 0xff, 0xfe]) }, 4],
      ['the former password', expiredLogin, 4],
      ['the former password under the new client id', { ...lampLogin, password: expiredLogin.password }, 4],
      ["another device's password", { ...lampLogin, password: otherLogin.password }, 4],
      ["another device's name and password", { ...otherLogin, clientId }, 4],
      ["another device's client id", { ...lampLogin, clientId: otherLogin.clientId }, 4],
      ["a removed device's credentials", removedLogin, 4],
      [
        "a registered, never seen device's name and another's password",
        { ...unseenLogin, password: otherLogin.password },
        4,
      ],
      [
        "a registered, never seen device's name and password under another client id",
        { ...unseenLogin, clientId: clientIdOf(unseenMac) },
        4,
      ],
      ["a registered, never seen device's client id alone", { clientId: unseenLogin.clientId }, 5],
      ['a MAC and nothing else', { clientId: clientIdOf(lampMac) }, 5],
      [
        "the fleet's secret, which does not count here",
        { clientId: clientIdOf(lampMac), ...mqttLogin(hub.deviceSecret, clientIdOf(lampMac)) },
        4,
      ],
      ['no client id', { clientId: '', username, password }, 2],
      ['a client id with a control character', { ...lampLogin, clientId: `${clientId}\u0007` }, 2],
      ['a client id without end', { ...lampLogin, clientId: 'x'.repeat(1_000) }, 2],
    ];
  };

  it.each(['tcp', 'websocket'] as const)('over %s lets in nobody but the device itself', async (over) => {
    for (const [what, hello, code] of attempts()) {
      const stranger = await RawMqttDevice.dial(hub, over);
      stranger.hello(hello);
      expect(await stranger.connack(), what).toBe(code);
      await stranger.closed();
      expect(stranger.packets, what).toHaveLength(1);
    }
    expect(await viewDevice(hub, removedMac)).toBeNull();
    await expectLampUnharmed();
  });

  it('has no session for a client without an id', async () => {
    const stranger = await RawMqttDevice.dial(hub);
    const hello = mqtt.generate({
      ...lampLogin,
      cmd: 'connect',
      protocolId: 'MQTT',
      protocolVersion: 4,
      clientId: '',
      clean: true,
    });
    // No library makes this: clean session false. Flags stand behind the header, the protocol's name and its level. [MQTT-3.1.3-8]
    hello.writeUInt8(hello.readUInt8(9) & ~0x02, 9);
    stranger.stream.write(hello);
    expect(await stranger.connack()).toBe(2);
    await stranger.closed();
  });

  it('tells of a known device that fails, once a minute and without a secret', async () => {
    const events = await eventually(
      () => eventsOf(hub, lampMac, 'device.auth_refused'),
      (found) => found.length > 0,
    );
    expect(events).toHaveLength(1);
    const text = JSON.stringify(events);
    for (const secret of [lampLogin.password.toString(), lampLogin.clientId, expiredLogin.password.toString()])
      expect(text).not.toContain(secret);
  });

  it('lets the device itself take over its session, and tells of that', async () => {
    const second = await letIn(lampLogin);
    await lamp.closed();
    await deviceThat(hub, lampMac, (view) => isOnline(view) && view.sessions[1]?.closeReason === 'taken_over');
    await eventually(
      () => eventsOf(hub, lampMac, 'device.disconnected'),
      (events) => events.some(({ reason }) => reason === 'taken_over'),
    );
    lamp = second;
    await expectLampUnharmed();
  });
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

  it('has a rule here for each path', () => {
    expect([...new Set(servedPaths(hub).webSocket.map((url) => url.replace(/\/$/, '')))].sort()).toEqual([
      '/graphql',
      // Its rule is in dial-in-boards.spec.ts.
      '/mcpu/v1',
      '/mqtt',
      '/xiaozhi/v1',
    ]);
  });

  it('at /xiaozhi/v1/ lets in nobody but the device itself', async () => {
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
      ['a device id that is no MAC', { ...own(), 'device-id': 'lamp' }, 400],
      ['no Client-Id', { ...own(), 'client-id': '' }, 400],
    ];
    for (const [what, headers, status] of attempts) expect(await upgradeOf(headers), what).toBe(status);
    // Names may come in the query, secrets may not.
    const query = `?device-id=${talkerMac}&client-id=${someUuid}&token=${talkerToken}&authorization=Bearer%20${talkerToken}`;
    expect(await statusAt('GET', `/xiaozhi/v1/${query}`, handshake)).toBe(401);
    expect(await upgradeOf(own())).toBe(101);
  });

  it('lets a device take over its session with its own token, and tells of that', async () => {
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

  it('at /graphql closes without a word of data', async () => {
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
  ...[lampLogin, otherLogin, unseenLogin, removedLogin].flatMap(({ clientId, password }) => [
    clientId,
    password.toString(),
  ]),
  ...[unseenTalkerToken, otherTalkerToken],
];

type Rule = (method: string, url: string) => Promise<void>;

/** Whatever is shown, the answer is one of these. */
const refuses =
  (...statuses: readonly number[]): Rule =>
  async (method, url) => {
    for (const [what, headers] of Object.entries(keys()))
      expect(statuses, `${method} ${url} with ${what}`).toContain(await statusAt(method, url, headers));
  };

const isPublic: Rule = async (method, url) => expect(await statusAt(method, url)).toBe(200);

/**
 * Answers every sender, and discloses neither a secret nor what the hub knows of a MAC: to a stranger, a device with a wrong Client-Id, a registered one that was
 * never seen, and a removed one it says the same.
 */
const tellsNoSecret: Rule = async (method, url) => {
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
    // Codes, challenges and the time are drawn for each.
    if ('device-id' in headers)
      shapes.add(`${String(answer.status)} ${text.replace(/"(code|challenge|message)":"[^"]*"|"timestamp":\d+/g, '')}`);
  }
  expect(shapes.size, `${method} ${url}`).toBe(1);
};

/** By the beginning of `METHOD path`; the first that fits counts. */
const rules: readonly (readonly [RegExp, Rule])[] = [
  // The console is the same for everybody and holds nothing of the fleet.
  [/^(GET|HEAD) \/(flotilla\.svg|devices|jobs|firmware|enrolments|events|audit|access|webhooks|settings)?$/, isPublic],
  [/^(GET|HEAD) \/(devices|jobs)\/:id$/, isPublic],
  [/^(GET|HEAD) \/assets\/\*$/, refuses(404)],
  [/^(GET|HEAD) \/(health\/(live|ready)|api\/sign-in)$/, isPublic],
  [/^(GET|POST) \/ota(\/.*)?$/, tellsNoSecret],
  [/^(GET|HEAD|POST) \/(graphql|openapi\.json)$/, refuses(401)],
  [/^(GET|POST|DELETE) \/mcp$/, refuses(401)],
  [/^\w+ \/api\/sign-in(\/oidc(\/callback)?)?$/, refuses(400, 404, 415)],
  // Nobody signs in without a password or a provider; everything else below /api wants a key or a session, and everything below /t a token of the one device that it was made for.
  [/^\w+ \/api\//, refuses(401)],
  [/^\w+ \/(t|vision|firmware)(\/|$)/, refuses(400, 401, 403, 404)],
  [/^(GET|HEAD) \/metrics$/, refuses(401)],
];

describe('HTTP', () => {
  /** `:id` and `*` stand for something that nobody made. */
  const someUrl = (url: string) =>
    url.replace(/:\w+/g, '01932f3e-0000-7000-8000-000000000001').replace('*', 'nobody-made-this');

  it('has a rule here for each path, which holds', async () => {
    const routes = servedPaths(hub).http;
    expect(routes).toContain('POST /graphql');
    for (const route of routes) {
      const [method = '', url = ''] = route.split(' ');
      const rule = rules.find(([pattern]) => pattern.test(route))?.[1];
      if (rule === undefined)
        throw new Error(
          `${route} is served and has no rule in this story: who may ask for it, and what does a stranger get?`,
        );
      await rule(method, someUrl(url));
    }
  });

  it('has nothing elsewhere', async () => {
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
        // The OTA endpoint takes whatever begins like it, and tells no secret.
        if (!url.startsWith('/ota'))
          expect([400, 401, 404, 405, 415], `${method} ${url}`).toContain(await statusAt(method, url));
  });

  it('answers no GraphQL operation, whatever it is', async () => {
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
  it('is still its own after all that strangers tried', async () => {
    const device = await letIn(unseenLogin);
    await deviceThat(hub, unseenMac, isOnline);
    device.drop();
    const headers = {
      'device-id': unseenTalkerMac,
      'client-id': randomUUID(),
      authorization: `Bearer ${unseenTalkerToken}`,
    };
    expect(await statusAt('GET', '/xiaozhi/v1/', { ...handshake, ...headers })).toBe(101);
  });
});

describe('UDP', () => {
  it('answers nobody', async () => {
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
