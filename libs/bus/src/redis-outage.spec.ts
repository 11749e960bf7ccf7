import type { CallId, DeviceId, HubProcessId } from '@flotilla/mcp';
import type { SettledCall } from '@flotilla/session';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Bus } from './bus.js';
import type { CallServer, RoutedCall } from './calls/call-router.js';
import { openRedisBus } from './redis-bus.js';
import { isRedisInstalled, RedisServer } from './redis/redis-server.suite.js';

const silent = { warn: () => undefined, error: () => undefined };
const gatewayId = 'gateway' as HubProcessId;
const deviceId = 'd-1' as DeviceId;

function routedCall(timeoutMs = 30_000): RoutedCall {
  const call = {
    callId: 'c-1' as CallId,
    tool: 't',
    arguments: {},
    queueDeadlineAt: Date.now() + timeoutMs,
    callTimeoutMs: timeoutMs,
  };
  return { deviceId, rights: { mayCallUserOnly: true, mayChangeFirmware: true }, call };
}

const send = (bus: Bus): Promise<SettledCall> =>
  new Promise((resolve) => bus.calls.deliver(gatewayId, routedCall(), resolve));

describe.skipIf(!isRedisInstalled())('while Redis is unreachable', () => {
  let server: RedisServer;
  let here: Bus;
  let there: Bus;
  let endService: () => Promise<void>;
  /** Calls that the gateway received and has not settled. */
  const taken: (() => void)[] = [];
  const gateway: CallServer = {
    enqueue: ({ call }, settle) =>
      void taken.push(() =>
        settle({ callId: call.callId, outcome: { kind: 'SUCCEEDED', certainty: 'YES' }, settledAt: 1 }),
      ),
    refreshTools: () => true,
    disconnect: () => false,
  };

  beforeAll(async () => {
    server = await RedisServer.start();
    const open = () => openRedisBus({ redisUrl: server.url, secret: 'of the hub', logger: silent });
    [here, there] = [await open(), await open()];
    endService = await there.calls.serve(gatewayId, gateway);
  });
  afterAll(async () => {
    server.thaw();
    await endService();
    await here.close();
    await there.close();
    await server.stop();
  });

  const outages = [
    ['gone', () => server.stop(), () => server.resume()],
    ['hanging', () => server.freeze(), () => server.thaw()],
  ] as const;
  const isBack = () => expect.poll(() => here.isReachable && there.isReachable, { timeout: 10_000 }).toBe(true);

  it.each(outages)(
    '(%s) reports it within seconds, and delivers the answer of a call in flight',
    async (_how, leave, comeBack) => {
      await isBack();
      taken.length = 0;
      const underWay = send(here);
      await expect.poll(() => taken.length, { timeout: 5_000 }).toBe(1);
      await leave();
      await expect.poll(() => here.isReachable, { timeout: 5_000 }).toBe(false);
      await expect(here.directory.lookup(deviceId)).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
      expect((await send(here)).outcome).toMatchObject({
        kind: 'NOT_SENT',
        certainty: 'NEVER',
        error: { code: 'UNAVAILABLE' },
      });
      await expect(here.calls.refreshTools(gatewayId, deviceId)).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
      taken[0]?.();
      await comeBack();
      expect((await underWay).outcome.kind).toBe('SUCCEEDED');
      await isBack();
      await expect
        .poll(() => here.calls.refreshTools(gatewayId, deviceId).catch(() => false), { timeout: 10_000 })
        .toBe(true);
    },
  );

  it('treats a gateway that has not reconnected as unreachable, and its devices as not offline', async () => {
    await server.stop();
    await expect.poll(() => here.isReachable, { timeout: 5_000 }).toBe(false);
    await server.resume();
    await isBack();
    const absent = new Promise<SettledCall>((resolve) =>
      here.calls.deliver('elsewhere' as HubProcessId, routedCall(), resolve),
    );
    expect((await absent).outcome.error?.code).toBe('UNAVAILABLE');
    await expect(here.directory.lookup('unknown' as DeviceId)).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
  });

  it('writes a session that began meanwhile when Redis is back', async () => {
    await isBack();
    await server.stop();
    await expect.poll(() => here.isReachable, { timeout: 5_000 }).toBe(false);
    const entry = { deviceId: 'd-2' as DeviceId, gatewayId, epoch: 4, toolSetHash: undefined };
    await expect(here.directory.put(entry)).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
    await server.resume();
    const found = async () => there.directory.lookup(entry.deviceId);
    await expect.poll(() => found().catch(() => undefined), { timeout: 10_000 }).toEqual(entry);
  });

  it('continues its repeated ticks in a Redis that has lost them', async () => {
    await isBack();
    // The queue has its own connections.
    await expect.poll(() => here.ticks.depth().catch(() => -1), { timeout: 10_000 }).toBe(0);
    let sweeps = 0;
    await here.ticks.work(async () => void (sweeps += 1), 1);
    await here.ticks.repeat({ kind: 'sweep' }, 200);
    await expect.poll(() => sweeps, { timeout: 10_000 }).toBeGreaterThan(0);
    await server.stop();
    await expect.poll(() => here.isReachable, { timeout: 5_000 }).toBe(false);
    await server.resume();
    const before = sweeps;
    await expect.poll(() => sweeps, { timeout: 20_000 }).toBeGreaterThan(before + 2);
  });
});
