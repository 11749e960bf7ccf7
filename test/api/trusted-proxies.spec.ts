/**
 * A hub behind a trusted TLS proxy: people, programs and devices are known by their own addresses,
 * and a client that bypasses the proxy is not believed.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { Browser } from '../src/api/browser.js';
import { eventually } from '../src/eventually.js';
import { startForwardingProxy, type ForwardingProxy } from '../src/api/forwarding-proxy.js';
import { ask } from '../src/api/graphql-client.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { askOta } from '../src/devices/ota-client.js';
import { RawWebSocketDevice } from '../src/devices/raw-websocket-device.js';

const PROXY = '127.0.0.2';
const ADMIN = 'admin@flotilla.local';
const PASSWORD = 'correct horse battery';

let hub: HubProcess;
let proxy: ForwardingProxy;

/** The address of the latest entry with the action. */
const addressOf = async (action: string) => {
  const query = '{ auditEntries(first: 50) { nodes { action remoteAddress } } }';
  const { auditEntries } = await ask<{ auditEntries: { nodes: { action: string; remoteAddress: string | null }[] } }>(
    hub,
    query,
  );
  return auditEntries.nodes.find((entry) => entry.action === action)?.remoteAddress;
};

beforeAll(async () => {
  hub = await startHub({
    env: { FLOTILLA_TRUSTED_PROXIES: PROXY, FLOTILLA_ADMIN_PASSWORD: PASSWORD, FLOTILLA_SIGN_IN_FAILURES_MAX: '3' },
  });
  proxy = await startForwardingProxy(hub, PROXY);
});

afterAll(async () => {
  proxy.close();
  expect(await hub.stop()).toBe(0);
  removeDataDir(hub.dataDir);
});

describe('behind a trusted proxy', () => {
  it('a person has the address that the proxy saw, and a cookie for HTTPS only', async () => {
    proxy.client = '198.51.100.20';
    const browser = new Browser(proxy);
    const answer = await browser.fetch('/api/sign-in', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.66' },
      body: JSON.stringify({ email: ADMIN, password: PASSWORD }),
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.getSetCookie().join('\n')).toMatch(
      /^__Host-flotilla-session=[^;]+; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Strict; Secure$/m,
    );
    expect(await addressOf('user.signed_in')).toBe('198.51.100.20');
    expect(await browser.graphql('{ viewer { kind } }')).toMatchObject({
      status: 200,
      data: { viewer: { kind: 'USER' } },
    });
    // The same cookie over a WebSocket.
    const socket = new WebSocket(`ws://127.0.0.1:${proxy.httpPort}/graphql`, 'graphql-transport-ws', {
      headers: browser.headers,
    });
    const acknowledged = new Promise((resolve) => socket.on('message', (data: Buffer) => resolve(data.toString())));
    socket.on('open', () => socket.send('{"type":"connection_init"}'));
    expect(await acknowledged).toContain('connection_ack');
    socket.terminate();
  });

  it('programs are audited with their addresses, over HTTP and over WebSocket', async () => {
    const create =
      'mutation { createApiKey(input: { name: "far", scopes: [DEVICES_READ] }) { userErrors { message } } }';
    proxy.client = '2001:db8::4';
    await ask({ ...hub, httpUrl: proxy.httpUrl }, create);
    expect(await addressOf('key.created')).toBe('2001:db8::4');
    proxy.client = '198.51.100.21';
    const client = createClient({
      url: `ws://127.0.0.1:${proxy.httpPort}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { authorization: `Bearer ${hub.adminKey}` },
    });
    for await (const result of client.iterate({ query: create })) expect(result.errors).toBeUndefined();
    await client.dispose();
    expect(await addressOf('key.created')).toBe('198.51.100.21');
  });

  it('one address that fails is locked, and the others behind the proxy are not', async () => {
    proxy.client = '198.51.100.66';
    const attempt = (index: number) => new Browser(proxy).signIn(`unknown-${index}@example.net`, 'wrong password here');
    const answers: number[] = [];
    for (let index = 0; index < 60 && answers.at(-1) !== 429; index += 1) answers.push((await attempt(index)).status);
    expect(answers.at(-1)).toBe(429);
    proxy.client = '198.51.100.20';
    expect((await new Browser(proxy).signIn(ADMIN, PASSWORD)).status).toBe(200);
  });

  it('devices are where they are, at the OTA endpoint and on their connection', async () => {
    proxy.client = '198.51.100.30';
    await askOta(
      { httpUrl: proxy.httpUrl },
      { mac: '02:5e:7a:10:c4:30', uuid: '6f8c5a0e-1111-4222-8333-123456789abc' },
    );
    const { enrolments } = await ask<{ enrolments: { nodes: { remoteAddress: string }[] } }>(
      hub,
      '{ enrolments(first: 5) { nodes { remoteAddress } } }',
    );
    expect(enrolments.nodes.map(({ remoteAddress }) => remoteAddress)).toEqual(['198.51.100.30']);
    const device = await RawWebSocketDevice.connect(
      { httpPort: proxy.httpPort, deviceSecret: hub.deviceSecret },
      '02:5e:7a:10:c4:31',
    );
    const connected = '{ events(filter: { types: ["device.connected"] }, first: 1) { nodes { data } } }';
    const { events } = await eventually(
      () => ask<{ events: { nodes: { data: object }[] } }>(hub, connected),
      ({ events: { nodes } }) => nodes.length > 0,
    );
    expect(events.nodes[0]?.data).toMatchObject({ remoteAddress: '198.51.100.30' });
    device.drop();
  });
});

describe('past the proxy', () => {
  it('the address is that of the connection, and the cookie is not for HTTPS', async () => {
    const browser = new Browser(hub);
    const answer = await browser.fetch('/api/sign-in', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': '198.51.100.99', 'x-forwarded-proto': 'https' },
      body: JSON.stringify({ email: ADMIN, password: PASSWORD }),
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.getSetCookie().join('\n')).toMatch(/^flotilla-session=/m);
    expect(await addressOf('user.signed_in')).toBe('127.0.0.1');
  });
});
