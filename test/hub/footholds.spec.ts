/**
 * What an attacker can reach with one stolen credential: the paths of no-credentials-http.spec.ts
 * with the token of a voice server, with a key for some devices, and from a second hub on the same
 * Redis that signs with another key.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { makeKey, scopes } from '../src/api/api-keys.js';
import { ask } from '../src/api/graphql-client.js';
import { handshake, statusOf } from '../src/api/http-status.js';
import { servedPaths } from '../src/api/served-paths.js';
import { callTool, deviceThat, isOnline } from '../src/devices/device-api.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { eventually } from '../src/eventually.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { metric } from '../src/hub/metrics.js';
import { isRedisInstalled, startRedis, type RedisServer } from '../src/hub/redis-server.js';
import { openTestDatabase, type TestDatabase } from '../src/hub/test-database.js';
import { finished, jobOf } from '../src/jobs/job-api.js';

const SEED = 21;
const [lamp, other] = ['02:00:15:00:00:00', '02:00:15:00:00:01'] as const;
const STATUS = 'self.get_device_status';
const SIGNING_KEY = 'secret of the voice server';
const deviceSecret = randomBytes(32).toString('hex');

describe.skipIf(!isRedisInstalled())('a foothold', () => {
  let databases: readonly TestDatabase[] = [];
  let redis: RedisServer;
  let hub: HubProcess;
  let fleet: SimulatedFleet;
  /** A voice server that keeps what it is sent. */
  let spy: WebSocketServer;
  let learned: IncomingHttpHeaders;

  const startOn = (database: TestDatabase) => {
    const { port } = spy.address() as AddressInfo;
    return startHub({
      env: {
        DATABASE_URL: database.url,
        REDIS_URL: redis.url,
        FLOTILLA_LOG_LEVEL: 'debug',
        FLOTILLA_ADMIN_KEY: randomBytes(32).toString('hex'),
        FLOTILLA_DEVICE_SECRET: deviceSecret,
        FLOTILLA_VOICE_URLS: `ws://127.0.0.1:${port}`,
        FLOTILLA_VOICE_SIGNING_KEY: SIGNING_KEY,
      },
    });
  };

  beforeAll(async () => {
    spy = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    await once(spy, 'listening');
    databases = await Promise.all([openTestDatabase(), openTestDatabase()]);
    redis = await startRedis();
    const [database] = databases;
    if (database === undefined) throw new Error('There is no database.');
    hub = await startOn(database);
    fleet = startFleet(hub, { devices: 2, seed: SEED });
    for (const device of [lamp, other]) await deviceThat(hub, device, isOnline);
  });

  afterAll(async () => {
    await fleet.stop();
    expect(await hub.stop()).toBe(0);
    expect(hub.log()).not.toMatch(/unhandled|callback_threw/i);
    removeDataDir(hub.dataDir);
    spy.close();
    await redis.stop();
    await Promise.all(databases.map((database) => database.close()));
  });

  describe('of a voice server that the fleet lists', () => {
    beforeAll(async () => {
      const change = 'mutation ($input: UpdateDeviceInput!) { updateDevice(input: $input) { userErrors { message } } }';
      const voiceUrl = `ws://127.0.0.1:${(spy.address() as AddressInfo).port}/voice/`;
      expect(await ask(hub, change, { input: { deviceId: lamp, voiceUrl } })).toEqual({
        updateDevice: { userErrors: [] },
      });
      const asked = once(spy, 'connection') as Promise<[unknown, { readonly headers: IncomingHttpHeaders }]>;
      await fleet.perform({ cmd: 'behaviour', device: lamp, behaviour: { kind: 'talk', packets: 1 } });
      const [, { headers }] = await asked;
      learned = headers;
    });

    it('is the Client-Id of a device and a token for that device', () => {
      expect(learned).toMatchObject({ 'device-id': lamp, 'x-real-ip': '127.0.0.1' });
      expect(learned['client-id']).toMatch(/^[\da-f-]{36}$/);
      expect(learned.authorization).toMatch(/^Bearer [\w-]{43}\.\d+$/);
    });

    const shown = () =>
      Object.fromEntries(
        ['authorization', 'client-id', 'device-id'].map((name) => [name, String(learned[name])]),
      ) as Record<string, string>;

    it('opens no path of HTTP but what is public', async () => {
      // The Client-Id is what a device proves itself with at /ota/: so it goes to listed servers
      // only.
      const routes = servedPaths(hub).http.filter((route) => !/ \/ota/.test(route));
      expect(routes).toContain('POST /graphql');
      for (const route of routes) {
        const [method = '', url = ''] = route.split(' ');
        const answer = await fetch(`${hub.httpUrl}${url.replace(/:\w+/g, lamp).replace('*', 'x')}`, {
          method,
          headers: shown(),
          redirect: 'manual',
        });
        const text = await answer.text();
        expect(text, route).not.toContain(other);
        expect(text, route).not.toMatch(/"(password|token|secret)":"/);
        if (/ \/(graphql|mcp|metrics|api\/(?!sign-in)|openapi)/.test(route)) expect(answer.status, route).toBe(401);
      }
    });

    it.each(['/xiaozhi/v1/', '/mcpu/v1/'])('opens no connection at %s', async (path) => {
      expect(servedPaths(hub).webSocket.map((url) => `${url.replace(/\/$/, '')}/`)).toContain(path);
      // 400: it does not even name a board, as one that dials in does.
      expect([400, 401]).toContain(await statusOf(hub, { path, headers: { ...handshake, ...shown() } }));
    });
  });

  it('of a key for some devices shows nothing of the others, on no path', async () => {
    const jobId = await jobOf(hub, { tool: STATUS, devices: { ids: [other] } }, 'of others');
    await finished(hub, jobId);
    const { secret } = await makeKey(hub, scopes, { devices: { ids: [lamp] } });
    for (const route of servedPaths(hub).http) {
      const [method = '', url = ''] = route.split(' ');
      const isQuery = url === '/graphql' && method === 'POST';
      const body = isQuery
        ? JSON.stringify({ query: `{ devices { nodes { id } } job(id: "${jobId}") { id } }` })
        : '{}';
      const answer = await fetch(`${hub.httpUrl}${url.replace(/:\w+/g, jobId).replace('*', 'x')}`, {
        method,
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        redirect: 'manual',
        ...(method !== 'GET' && method !== 'HEAD' && { body }),
      });
      const text = await answer.text();
      expect(answer.status, route).toBeLessThan(500);
      expect(text.toLowerCase(), route).not.toContain(other);
      if (isQuery) expect(JSON.parse(text)).toMatchObject({ data: { devices: { nodes: [{ id: lamp }] }, job: null } });
      if (url === '/metrics') expect(answer.status).toBe(403);
    }
  });

  it('of another hub on the same Redis moves no session and gets no call', async () => {
    const refused = () => metric(hub, 'flotilla_bus_messages_refused_total');
    const before = await refused();
    const [, database] = databases;
    if (database === undefined) throw new Error('There is no second database.');
    const stranger = await startOn(database);
    // The same devices once more, as a copy of them would come in there.
    const copies = startFleet(stranger, { devices: 2, seed: SEED });
    try {
      for (const device of [lamp, other]) await deviceThat(stranger, device, isOnline);
      await eventually(refused, (count) => count > before);
      for (const device of [lamp, other]) {
        expect(await deviceThat(hub, device, isOnline)).toMatchObject({ sessions: [{ closeReason: null }] });
        // Who may write to Redis can hide a device, and no more: such a call is not sent.
        expect(['SUCCEEDED', 'NOT_SENT']).toContain(
          (await callTool(hub, { deviceId: device, tool: 'self.lamp.get_state' })).outcome,
        );
      }
      expect((await copies.counts()).tools).not.toHaveProperty('self.lamp.get_state');
    } finally {
      await copies.stop();
      expect(await stranger.stop()).toBe(0);
      removeDataDir(stranger.dataDir);
    }
  });
});
