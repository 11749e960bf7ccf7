import type { CallId, DeviceId, HubProcessId } from '@flotilla/mcp';
import type { SettledCall } from '@flotilla/session';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BusHarness } from './bus-harness.suite.js';
import type { Bus } from './bus.js';
import type { RoutedCall } from './calls/call-router.js';
import { describeCallRouter } from './calls/call-router.suite.js';
import { describeDirectory } from './directory/directory.suite.js';
import { describeFeed } from './feed/feed.suite.js';
import { openRedisBus } from './redis-bus.js';
import { isRedisInstalled, RedisServer } from './redis/redis-server.suite.js';
import { describeTickQueue } from './ticks/tick-queue.suite.js';

const silent = { warn: () => undefined, error: () => undefined };
const gatewayId = 'gateway' as HubProcessId;
const deviceId = 'd-1' as DeviceId;

function routedCall(timeoutMs: number): RoutedCall {
  const deadlineAt = Date.now() + timeoutMs;
  const call = { callId: 'c-1' as CallId, tool: 't', arguments: {}, queueDeadlineAt: deadlineAt, callTimeoutMs: timeoutMs };
  return { deviceId, call: { ...call, callDeadlineAt: deadlineAt } };
}

const send = (bus: Bus, routed: RoutedCall): Promise<SettledCall> => new Promise((resolve) => bus.calls.call(gatewayId, routed, resolve));

describe.skipIf(!isRedisInstalled())('redis bus', () => {
  let server: RedisServer | undefined;
  let pair: { here: Bus; there: Bus } | undefined;

  const buses = (): { here: Bus; there: Bus } => {
    if (pair === undefined) throw new TypeError('The buses were not opened.');
    return pair;
  };

  beforeAll(async () => {
    server = await RedisServer.start();
    const open = (): Promise<Bus> => openRedisBus({ redisUrl: server?.url ?? '', logger: silent });
    pair = { here: await open(), there: await open() };
  });

  afterAll(async () => {
    await pair?.here.close();
    await pair?.there.close();
    await server?.stop();
  });

  const harness: BusHarness = { name: 'two processes over Redis', buses };
  describeDirectory(harness);
  describeCallRouter(harness);
  describeFeed(harness);
  describeTickQueue(harness);

  it('ends a call as unknown when the gateway took it and stays silent past the deadline', async () => {
    const { here, there } = buses();
    const end = await there.calls.serve(gatewayId, { call: () => undefined, refreshTools: () => false, disconnect: () => false });
    const settled = await send(here, routedCall(100));
    expect(settled.outcome).toMatchObject({ kind: 'UNKNOWN', certainty: 'MAYBE', error: { code: 'GATEWAY_UNREACHABLE' } });
    await end();
  });

  it('drops messages that are not ours and goes on', async () => {
    const { here, there } = buses();
    const end = await there.calls.serve(gatewayId, {
      call: ({ call }, settle) => settle({ callId: call.callId, outcome: { kind: 'SUCCEEDED', certainty: 'YES' }, settledAt: 1 }),
      refreshTools: () => false,
      disconnect: () => false,
    });
    const intruder = new Redis(server?.url ?? '');
    for (const text of ['not json', '{}', '{"kind":"call","askId":1,"replyTo":"x","routed":{}}']) {
      await intruder.publish(`flotilla:gateway:${gatewayId}`, text);
      await intruder.publish('flotilla:feed:job', text);
    }
    expect((await send(here, routedCall(5_000))).outcome.kind).toBe('SUCCEEDED');
    await intruder.quit();
    await end();
  });

  it('says certainly not sent while Redis is away, and finds its own sessions again in an empty one', async () => {
    const { here, there } = buses();
    const entry = { deviceId, gatewayId, epoch: 4, toolSetHash: undefined };
    await there.directory.put(entry);
    await server?.stop();
    await expect.poll(async () => (await send(here, routedCall(1_000))).outcome.kind, { timeout: 10_000 }).toBe('NOT_SENT');
    await expect(here.directory.lookup(deviceId)).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
    here.feed.publish('job', { jobId: 'dropped' as never });
    await server?.resume();
    const lookup = (): Promise<unknown> => Promise.resolve(here.directory.lookup(deviceId)).catch(() => undefined);
    await expect.poll(lookup, { timeout: 15_000 }).toEqual(entry);
  });
});

describe('openRedisBus', () => {
  it('says that Redis does not answer', async () => {
    const opened = openRedisBus({ redisUrl: 'redis://127.0.0.1:1', logger: silent });
    await expect(opened).rejects.toMatchObject({ name: 'BusError', code: 'BUS_UNAVAILABLE' });
  });
});
