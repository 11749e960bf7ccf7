/**
 * Unauthenticated WebSocket clients: more than there are places, from several addresses, ignoring
 * the hub. Clients with a key are admitted meanwhile.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { eventually } from '../src/eventually.js';
import { dialStranger, type RawStranger, type StrangerOptions } from '../src/api/raw-stranger.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { metric } from '../src/hub/metrics.js';

/**
 * They are closed after 5 s at /graphql and 11 s at the paths of devices; the rest allows for a
 * busy machine.
 */
const GONE_WITHIN_MS = 20_000;

let hub: HubProcess;
const strangers: RawStranger[] = [];

beforeAll(async () => {
  hub = await startHub({ env: { FLOTILLA_TRUSTED_PROXIES: '127.0.0.1' } });
});
afterAll(async () => {
  for (const stranger of strangers) stranger.drop();
  expect(await hub.stop()).toBe(0);
  removeDataDir(hub.dataDir);
});

const graphql = { 'sec-websocket-protocol': 'graphql-transport-ws' };
const from = (address: string) => ({ 'x-forwarded-for': address });

async function dialMany(count: number, options: StrangerOptions, port = hub.httpPort): Promise<readonly RawStranger[]> {
  const dialled: RawStranger[] = [];
  for (let left = count; left > 0; left -= 50)
    dialled.push(...(await Promise.all(Array.from({ length: Math.min(left, 50) }, () => dialStranger(port, options)))));
  strangers.push(...dialled);
  return dialled;
}

/** A subscriber with a key gets in; rejects where the hub refuses or destroys it. */
async function connectSubscriber(address: string): Promise<void> {
  const socket = new WebSocket(`${hub.httpUrl.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
    headers: from(address),
  });
  await new Promise<void>((resolve, reject) => {
    socket.on('open', () =>
      socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${hub.adminKey}` } })),
    );
    socket.once('message', () => resolve());
    socket.once('close', (code) => reject(new Error(`The hub closed with ${code}.`)));
    socket.once('error', reject);
  });
  socket.terminate();
}

describe('strangers at /graphql', () => {
  it('take no place of clients with a key, and are closed soon', async () => {
    const path = '/graphql';
    const held = new WebSocket(`${hub.httpUrl.replace('http', 'ws')}${path}`, 'graphql-transport-ws', {
      headers: from('203.0.113.1'),
    });
    held.on('open', () =>
      held.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${hub.adminKey}` } })),
    );
    await new Promise((resolve) => held.once('message', resolve));
    const dialled: RawStranger[] = [];
    for (const network of [1, 2, 3, 4, 5, 6])
      dialled.push(...(await dialMany(200, { path, headers: { ...graphql, ...from(`203.0.113.${network}`) } })));
    // From a free address, from one that is in use, and from a full /64.
    await connectSubscriber('198.51.100.1');
    await connectSubscriber('203.0.113.6');
    for (const host of [1, 2, 3])
      dialled.push(...(await dialMany(100, { path, headers: { ...graphql, ...from(`2001:db8::${host}`) } })));
    await connectSubscriber('2001:db8::9');
    expect(dialled.filter(({ status }) => status?.includes('101')).length).toBeGreaterThan(1_000);
    await eventually(
      async () => dialled.filter(({ isEnded }) => !isEnded).length,
      (open) => open === 0,
      GONE_WITHIN_MS,
    );
    expect(held.readyState).toBe(WebSocket.OPEN);
    held.terminate();
  });
});

describe('strangers at the doors of devices', () => {
  const device = { 'device-id': '02:00:00:00:0b:01', 'client-id': '6e0e6a4e-6ad9-4e27-9f0b-3a1f1ffb3a11' };

  it.each<[string, StrangerOptions, string]>([
    ['/mqtt', { path: '/mqtt', headers: { 'sec-websocket-protocol': 'mqtt' } }, '101'],
    ['/mqtt without its subprotocol', { path: '/mqtt' }, '400'],
    ['/xiaozhi/v1/', { path: '/xiaozhi/v1/', headers: device }, '401'],
    ['/mcpu/v1/', { path: '/mcpu/v1/', headers: { 'device-id': 'bench-1' } }, '401'],
    ['/mcp, which takes no upgrades', { path: '/mcp' }, '404'],
    ['an unknown path', { path: '/nothing' }, '404'],
  ])('%s: none is kept', async (_door, options, status) => {
    const dialled = await dialMany(20, options);
    await eventually(
      async () => dialled.map((stranger) => [stranger.status?.split(' ')[1], stranger.isEnded && !stranger.probe()]),
      (seen) => seen.every(([, isGone]) => isGone === true),
      GONE_WITHIN_MS,
    );
    expect(new Set(dialled.map((stranger) => stranger.status?.split(' ')[1]))).toEqual(new Set([status]));
  });

  it('MQTT over TCP: none is kept, and no place either', async () => {
    const dialled = await dialMany(50, {}, hub.mqttPort);
    await eventually(
      async () => dialled.filter(({ isEnded }) => !isEnded).length,
      (open) => open === 0,
      GONE_WITHIN_MS,
    );
    expect(await metric(hub, 'flotilla_unproven_connections')).toBe(0);
  });
});
