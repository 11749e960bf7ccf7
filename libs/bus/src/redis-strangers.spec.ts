import type { CallId, DeviceId, HubProcessId, JobId } from '@flotilla/mcp';
import type { SettledCall } from '@flotilla/session';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Bus } from './bus.js';
import type { CallServer, RoutedCall } from './calls/call-router.js';
import { openRedisBus } from './redis-bus.js';
import { isRedisInstalled, RedisServer } from './redis/redis-server.suite.js';

const gatewayId = 'gateway' as HubProcessId;
const deviceId = 'd-1' as DeviceId;

function routedCall(callId: string): RoutedCall {
  const until = Date.now() + 1_000;
  const call = {
    callId: callId as CallId,
    tool: 't',
    arguments: {},
    queueDeadlineAt: until,
    callTimeoutMs: 1_000,
    callDeadlineAt: until,
  };
  return { deviceId, rights: { mayCallUserOnly: true, mayChangeFirmware: true }, call };
}

const send = (bus: Bus, routed: RoutedCall): Promise<SettledCall> =>
  new Promise((resolve) => bus.calls.deliver(gatewayId, routed, resolve));

describe.skipIf(!isRedisInstalled())('a client without the key that can read and write Redis', () => {
  const warnings: string[] = [];
  const logger = { warn: (_details: object, message: string) => void warnings.push(message), error: () => undefined };
  let server: RedisServer;
  let here: Bus;
  let there: Bus;
  let stranger: Redis;
  let endService: () => Promise<void>;
  /** Calls that reached the gateway. */
  const reached: string[] = [];
  const gateway: CallServer = {
    enqueue: ({ call }, settle) => {
      reached.push(call.callId);
      settle({ callId: call.callId, outcome: { kind: 'SUCCEEDED', certainty: 'YES' }, settledAt: 1 });
    },
    refreshTools: () => false,
    disconnect: () => false,
  };

  beforeAll(async () => {
    server = await RedisServer.start();
    const open = () => openRedisBus({ redisUrl: server.url, secret: 'of the hub', logger });
    [here, there] = [await open(), await open()];
    endService = await there.calls.serve(gatewayId, gateway);
    stranger = new Redis(server.url);
  });
  afterAll(async () => {
    await endService();
    await stranger.quit();
    await here.close();
    await there.close();
    await server.stop();
  });

  it('cannot forge a call, an answer or a notification', async () => {
    const heard: unknown[] = [];
    const end = there.feed.subscribe('access', (message) => heard.push(message));
    const routed = routedCall('forged');
    const channel = `flotilla:gateway:${gatewayId}`;
    const forged = `${'A'.repeat(22)}${Date.now()}000.here.${JSON.stringify({ kind: 'call', askId: 1, routed })}`;
    for (const message of ['not json', JSON.stringify({ kind: 'call', askId: 1, routed }), forged]) {
      await stranger.publish(channel, message);
      await stranger.publish('flotilla:feed:access', message);
    }
    expect((await send(here, routedCall('true'))).outcome.kind).toBe('SUCCEEDED');
    const news = new Promise((resolve) => there.feed.subscribe('job', resolve));
    here.feed.publish('job', { jobId: 'after' as JobId });
    await news;
    expect(reached).toEqual(['true']);
    expect(heard).toEqual([]);
    expect(Object.fromEntries(there.refused)).toEqual({ unsigned: 4, wrong_key: 2 });
    expect(warnings.filter((message) => message.startsWith('dropped a message'))).toHaveLength(1);
    end();
  });

  it('cannot repeat a call that it has overheard', async () => {
    const ear = new Redis(server.url);
    const overheard = new Promise<[string, string]>((resolve) => {
      ear.on('message', (channel, message) => resolve([channel, message]));
    });
    await ear.subscribe(`flotilla:gateway:${gatewayId}`);
    await send(here, routedCall('once'));
    const [channel, message] = await overheard;
    await stranger.publish(channel, message);
    await stranger.publish('flotilla:gateway:other', message);
    expect((await send(here, routedCall('later'))).outcome.kind).toBe('SUCCEEDED');
    expect(reached.filter((callId) => callId === 'once')).toHaveLength(1);
    expect(there.refused.get('replayed')).toBe(1);
    await ear.quit();
  });

  it('cannot forge the location or the tools of a device', async () => {
    await there.directory.put({ deviceId, gatewayId, epoch: 3, toolSetHash: 'true' as never });
    expect(await here.directory.lookup(deviceId)).toMatchObject({ epoch: 3, toolSetHash: 'true' });
    await stranger.hset('flotilla:session:d-1', 'toolSetHash', 'false');
    expect(await here.directory.lookup(deviceId)).toBeUndefined();
    await stranger.hset('flotilla:session:d-2', { epoch: 1, gatewayId, toolSetHash: '' });
    expect(await here.directory.lookup('d-2' as DeviceId)).toBeUndefined();
    expect(here.refused.get('entry')).toBe(2);
  });

  it('is any process with another database: its calls run nowhere, and its notifications are dropped', async () => {
    const other = await openRedisBus({ redisUrl: server.url, secret: 'of another hub', logger });
    const before = there.refused.get('wrong_key') ?? 0;
    reached.length = 0;
    expect((await send(other, routedCall('foreign'))).outcome).toMatchObject({
      kind: 'UNKNOWN',
      error: { code: 'GATEWAY_UNREACHABLE' },
    });
    await other.directory.put({ deviceId, gatewayId, epoch: 9, toolSetHash: undefined });
    expect(await here.directory.lookup(deviceId)).toBeUndefined();
    expect(reached).toEqual([]);
    expect(there.refused.get('wrong_key')).toBe(before + 1);
    await other.close();
  });
});
