import type { CallId, DeviceId, HubProcessId } from '@flotilla/mcp';
import type { SettledCall } from '@flotilla/session';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BusHarness } from './bus-harness.suite.js';
import type { Bus } from './bus.js';
import type { CallServer, RoutedCall } from './calls/call-router.js';
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
  const call = {
    callId: 'c-1' as CallId,
    tool: 't',
    arguments: {},
    queueDeadlineAt: deadlineAt,
    callTimeoutMs: timeoutMs,
  };
  return {
    deviceId,
    rights: { mayCallUserOnly: false, mayChangeFirmware: false },
    call: { ...call, callDeadlineAt: deadlineAt },
  };
}

/** Settles every call at once. */
const answering: CallServer = {
  enqueue: ({ call }, settle) =>
    settle({ callId: call.callId, outcome: { kind: 'SUCCEEDED', certainty: 'YES' }, settledAt: 1 }),
  refreshTools: () => false,
  disconnect: () => false,
};

const send = (bus: Bus, routed: RoutedCall): Promise<SettledCall> =>
  new Promise((resolve) => bus.calls.deliver(gatewayId, routed, resolve));

describe.skipIf(!isRedisInstalled())('redis bus', () => {
  let server: RedisServer | undefined;
  let pair: { here: Bus; there: Bus } | undefined;

  const buses = (): { here: Bus; there: Bus } => {
    if (pair === undefined) throw new TypeError('The buses were not opened.');
    return pair;
  };

  beforeAll(async () => {
    server = await RedisServer.start();
    const open = (): Promise<Bus> =>
      openRedisBus({ redisUrl: server?.url ?? '', secret: 'of the hub', logger: silent });
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

  it('ends a call as unknown when the gateway received it and stays silent past the deadline', async () => {
    const { here, there } = buses();
    const end = await there.calls.serve(gatewayId, {
      enqueue: () => undefined,
      refreshTools: () => false,
      disconnect: () => false,
    });
    const settled = await send(here, routedCall(100));
    expect(settled.outcome).toMatchObject({
      kind: 'UNKNOWN',
      certainty: 'MAYBE',
      error: { code: 'GATEWAY_UNREACHABLE' },
    });
    await end();
  });

  it.each([
    ['REJECTED', 'TOOL_FORBIDDEN'],
    ['NOT_SENT', 'UNAVAILABLE'],
  ] as const)('asks the gateway of another process, but not a local one, whether to send: %s', async (kind, code) => {
    const { here, there } = buses();
    const refusalOf: CallServer['refusalOf'] = ({ call }) => ({ code, message: `not ${call.tool}` });
    const end = await there.calls.serve(gatewayId, { ...answering, refusalOf });
    expect((await send(here, routedCall(5_000))).outcome).toEqual({
      kind,
      certainty: 'NEVER',
      error: { code, message: 'not t' },
    });
    expect((await send(there, routedCall(5_000))).outcome.kind).toBe('SUCCEEDED');
    await end();
  });

  it('settles calls that wait for a process that has ended, and no others', async () => {
    const { here, there } = buses();
    const [dead, living] = ['dead', 'living'] as unknown as readonly [HubProcessId, HubProcessId];
    const silentServer = { ...answering, enqueue: () => undefined };
    const ends = [await there.calls.serve(dead, silentServer), await there.calls.serve(living, silentServer)];
    const settled: SettledCall[] = [];
    here.calls.deliver(dead, routedCall(60_000), (end) => settled.push(end));
    here.calls.deliver(living, routedCall(60_000), (end) => settled.push(end));
    expect([...here.calls.awaited()].sort()).toEqual([dead, living]);
    here.calls.ended(dead);
    expect(settled.map(({ outcome }) => outcome)).toMatchObject([
      { kind: 'UNKNOWN', certainty: 'MAYBE', error: { code: 'GATEWAY_UNREACHABLE' } },
    ]);
    expect([...here.calls.awaited()]).toEqual([living]);
    here.calls.ended(living);
    for (const end of ends) await end();
  });

  it('settles as not sent while Redis is unreachable, and restores its sessions in an empty Redis', async () => {
    const { here, there } = buses();
    const entry = { deviceId, gatewayId, epoch: 4, toolSetHash: undefined };
    await there.directory.put(entry);
    await server?.stop();
    await expect
      .poll(async () => (await send(here, routedCall(1_000))).outcome.error?.code, { timeout: 10_000 })
      .toBe('UNAVAILABLE');
    expect(here.isReachable).toBe(false);
    await expect(here.directory.lookup(deviceId)).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
    here.feed.publish('job', { jobId: 'dropped' as never });
    await server?.resume();
    const lookup = (): Promise<unknown> => Promise.resolve(here.directory.lookup(deviceId)).catch(() => undefined);
    await expect.poll(lookup, { timeout: 15_000 }).toEqual(entry);
  });
});

describe('openRedisBus', () => {
  it('reports that Redis does not answer', async () => {
    const opened = openRedisBus({ redisUrl: 'redis://127.0.0.1:1', secret: 'of the hub', logger: silent });
    await expect(opened).rejects.toMatchObject({ name: 'BusError', code: 'BUS_UNAVAILABLE' });
  });
});
