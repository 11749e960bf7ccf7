/**
 * Agents at one address of several processes: any process answers any request, calls are on record,
 * and a key that ends closes its streams.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectAgent, revisions } from '../src/agents/agent-client.js';
import { eventually } from '../src/eventually.js';
import { ask } from '../src/api/graphql-client.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { online } from '../src/jobs/job-api.js';
import { isRedisInstalled, startRedis, type RedisServer } from '../src/hub/redis-server.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { openTestDatabase, type TestDatabase } from '../src/hub/test-database.js';

describe.skipIf(!isRedisInstalled())('agents of a hub of several processes', () => {
  let database: TestDatabase;
  let redis: RedisServer;
  let hubs: readonly HubProcess[];
  let fleet: SimulatedFleet;
  let proxy: Server;
  let shared: { readonly httpUrl: string; readonly adminKey: string };
  let lamp: string;
  const answeredBy: (string | undefined)[] = [];

  const first = () => hubs[0] as HubProcess;

  async function makeKey(...scopes: readonly string[]): Promise<{ readonly id: string; readonly secret: string }> {
    const query = `mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) {
      apiKey { id } secret userErrors { code message } } }`;
    const input = { name: `agent ${scopes.length}`, scopes };
    const { createApiKey } = await ask<{ createApiKey: { apiKey: { id: string }; secret: string } }>(first(), query, {
      input,
    });
    return { id: createApiKey.apiKey.id, secret: createApiKey.secret };
  }

  beforeAll(async () => {
    [database, redis] = await Promise.all([openTestDatabase(), startRedis()]);
    const env = { DATABASE_URL: database.url, REDIS_URL: redis.url, FLOTILLA_ADMIN_KEY: `admin-${randomUUID()}` };
    const one = await startHub({ env });
    hubs = [one, await startHub({ env: { ...env, FLOTILLA_ROLES: 'api' } })];
    fleet = startFleet(one, { devices: 1, profile: 'lamp' });
    await online(one, 1);
    const { devices } = await ask<{ devices: { nodes: { id: string }[] } }>(
      one,
      '{ devices(first: 1) { nodes { id } } }',
    );
    lamp = devices.nodes[0]?.id ?? '';
    let turn = 0;
    proxy = createServer((incoming, outgoing) => {
      const hub = hubs[turn++ % hubs.length];
      answeredBy.push(hub?.httpUrl);
      const options = {
        host: '127.0.0.1',
        port: hub?.httpPort,
        method: incoming.method,
        path: incoming.url,
        headers: incoming.headers,
      };
      const passed = request(options, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
      passed.on('error', () => outgoing.destroy());
      outgoing.on('close', () => passed.destroy());
      incoming.pipe(passed);
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    shared = { httpUrl: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, adminKey: one.adminKey };
  });

  afterAll(async () => {
    proxy.closeAllConnections();
    proxy.close();
    await fleet.stop();
    for (const hub of hubs) {
      await hub.stop();
      removeDataDir(hub.dataDir);
    }
    await redis.stop();
    await database.close();
  });

  it.each(revisions)('are answered by whichever process is asked, in %s', async (revision) => {
    const agent = await connectAgent(shared, { revision });
    const before = answeredBy.length;
    const name = `${lamp.replaceAll(':', '_')}__self_lamp_turn_on`;
    for (let times = 0; times < 4; times += 1) {
      expect((await agent.listTools()).tools.map((tool) => tool.name)).toContain(name);
      expect((await agent.callTool({ name, arguments: {} })).isError ?? false).toBe(false);
    }
    expect(new Set(answeredBy.slice(before)).size).toBe(2);
    await agent.close();
  });

  it('have what they call audited under their key', async () => {
    const key = await makeKey('DEVICES_READ', 'TOOLS_CALL', 'TOOLS_CALL_PRIVILEGED');
    const agent = await connectAgent(shared, { key: key.secret });
    await agent.callTool({ name: `${lamp.replaceAll(':', '_')}__self_reboot`, arguments: {} });
    await agent.close();
    const query = '{ auditEntries(first: 50) { nodes { actor action subject } } }';
    const actions = await eventually(
      async () => {
        const { auditEntries } = await ask<{ auditEntries: { nodes: { actor: string; action: string }[] } }>(
          first(),
          query,
        );
        return auditEntries.nodes.filter(({ actor }) => actor === 'agent 3').map(({ action }) => action);
      },
      (found) => found.length >= 2,
    );
    expect(actions.sort()).toEqual(['call.ended', 'call.privileged']);
  });

  it('lose their streams and get 401 within seconds when their key is revoked', async () => {
    const key = await makeKey('DEVICES_READ');
    const headers = { authorization: `Bearer ${key.secret}`, accept: 'text/event-stream' };
    const streams = await Promise.all(hubs.map(({ httpUrl }) => fetch(`${httpUrl}/mcp`, { headers })));
    expect(streams.map(({ status }) => status)).toEqual([200, 200]);
    const ends = streams.map((stream) => stream.text().catch(() => 'cut'));
    await ask(first(), 'mutation ($id: ID!) { revokeApiKey(id: $id) { userErrors { code } } }', { id: key.id });
    await Promise.all(ends);
    for (const { httpUrl } of hubs) expect((await fetch(`${httpUrl}/mcp`, { headers })).status).toBe(401);
  });
});
