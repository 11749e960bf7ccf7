/** Traces of calls over two processes: from API clients, agents and jobs to the device and back. */
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askMcp } from '../src/agents/ask-mcp.js';
import { ask } from '../src/api/graphql-client.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { eventually } from '../src/eventually.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { isRedisInstalled, startRedis, type RedisServer } from '../src/hub/redis-server.js';
import { openTestDatabase, type TestDatabase } from '../src/hub/test-database.js';
import { TraceCollector, type ReceivedSpan } from '../src/hub/trace-collector.js';
import { finished, jobOf, online } from '../src/jobs/job-api.js';

const STATUS = 'self.get_device_status';

describe.skipIf(!isRedisInstalled())('traces of calls', () => {
  const collector = new TraceCollector();
  const hubs: HubProcess[] = [];
  let database: TestDatabase;
  let redis: RedisServer;
  let api: HubProcess;
  let fleet: SimulatedFleet;
  let ids: readonly string[];

  beforeAll(async () => {
    await collector.listen();
    [database, redis] = await Promise.all([openTestDatabase({ migrated: true }), startRedis()]);
    const shared = {
      FLOTILLA_ADMIN_KEY: randomBytes(32).toString('hex'),
      FLOTILLA_DEVICE_SECRET: randomBytes(32).toString('hex'),
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      FLOTILLA_TRACES_URL: collector.url,
      FLOTILLA_TRACES_SAMPLE: '1',
    };
    const start = async (roles: string) => {
      const hub = await startHub({ env: { ...shared, FLOTILLA_ROLES: roles } });
      hubs.push(hub);
      return hub;
    };
    api = await start('api,worker');
    fleet = startFleet(await start('gateway'), { devices: 2, transport: 'mqtt' });
    await online(api, 2);
    const { devices } = await ask<{ devices: { nodes: { id: string }[] } }>(api, '{ devices { nodes { id } } }');
    ids = devices.nodes.map(({ id }) => id);
  });
  afterAll(async () => {
    await fleet.stop();
    for (const hub of hubs) {
      expect(await hub.stop()).toBe(0);
      removeDataDir(hub.dataDir);
    }
    await collector.close();
    await redis.stop();
    await database.close();
  });

  const complete = (spansOf: () => readonly ReceivedSpan[], count: number) =>
    eventually(
      () => Promise.resolve(spansOf()),
      (spans) => spans.length >= count,
    );
  const inTrace = (traceId: string, count: number) =>
    complete(() => collector.spans.filter((span) => span.traceId === traceId), count);
  /** Each span inside of the one before. */
  const expectChain = (spans: readonly ReceivedSpan[], names: readonly string[], parent: string | undefined) => {
    const chain = names.map((name) => spans.find((span) => span.name === name));
    expect(chain.map((span) => span?.parent)).toEqual([parent, ...chain.slice(0, -1).map((span) => span?.spanId)]);
    for (const span of chain) expect(span?.until).toBeGreaterThanOrEqual(span?.from ?? Infinity);
    return chain;
  };

  it('continue the trace of an API client, over Redis', async () => {
    const [trace, outer] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
    const query = 'mutation ($input: CallToolInput!) { callTool(input: $input) { call { id outcome } } }';
    const response = await fetch(`${api.httpUrl}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${api.adminKey}`,
        traceparent: `00-${trace}-${outer}-01`,
      },
      body: JSON.stringify({ query, variables: { input: { deviceId: ids[0], tool: STATUS } } }),
    });
    const { data } = (await response.json()) as { data: { callTool: { call: { id: string; outcome: string } } } };
    expect(data.callTool.call.outcome).toBe('SUCCEEDED');
    const spans = await inTrace(trace, 4);
    expect(spans).toHaveLength(4);
    const [call, deliver, session, device] = expectChain(spans, ['call', 'deliver', 'session', 'device'], outer);
    expect(call?.process).toBe(deliver?.process);
    expect(session?.process).not.toBe(call?.process);
    expect(device?.process).toBe(session?.process);
    expect(call?.attributes).toMatchObject({ 'gen_ai.tool.name': STATUS, 'flotilla.outcome': 'SUCCEEDED' });
    expect(session?.attributes).toMatchObject({
      'flotilla.call.id': data.callTool.call.id,
      'flotilla.device.id': ids[0],
      'mcp.method.name': 'tools/call',
    });
  });

  it('continue the trace in the _meta of an agent', async () => {
    const [trace, outer] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
    const params = {
      name: 'call_tool',
      arguments: { device: ids[1], tool: STATUS },
      _meta: { traceparent: `00-${trace}-${outer}-01` },
    };
    const asked = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    expect(await askMcp(api, asked)).toHaveProperty('result.structuredContent.source', 'device');
    expectChain(await inTrace(trace, 4), ['call', 'deliver', 'session', 'device'], outer);
  });

  it('begin with each call of a job', async () => {
    const job = await jobOf(api, { tool: STATUS, devices: { all: true } }, randomUUID());
    await finished(api, job);
    const roots = await complete(
      () => collector.spans.filter(({ name, parent }) => name === 'call' && parent === undefined),
      2,
    );
    expect(roots.map(({ attributes }) => attributes['flotilla.device.id']).sort()).toEqual([...ids].sort());
    for (const root of roots) expectChain(await inTrace(root.traceId, 3), ['call', 'session', 'device'], undefined);
  });

  it('never end a call when the collector is gone, and say so once', async () => {
    const { port } = collector;
    await collector.close();
    const query = 'mutation ($input: CallToolInput!) { callTool(input: $input) { call { outcome } } }';
    const call = async () => {
      const input = { deviceId: ids[0], tool: STATUS };
      return (await ask<{ callTool: { call: { outcome: string } } }>(api, query, { input })).callTool.call.outcome;
    };
    expect(await call()).toBe('SUCCEEDED');
    await eventually(
      () => Promise.resolve(api.log()),
      (log) => log.includes('traces cannot be sent'),
      60_000,
    );
    await collector.listen(port);
    const before = collector.spans.length;
    await eventually(call, () => collector.spans.length > before, 60_000);
    expect(api.log().match(/traces cannot be sent/g)).toHaveLength(1);
  });
});
