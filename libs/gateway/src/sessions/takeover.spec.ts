import { once } from 'node:events';
import { openLocalBus, openRedisBus } from '@flotilla/bus';
import type { Bus } from '@flotilla/bus';
import { isRedisInstalled, RedisServer } from '@flotilla/bus/redis-server';
import { openRegistry } from '@flotilla/registry';
import type { ProcessLease, Registry } from '@flotilla/registry';
import { openTestDatabase } from '@flotilla/registry/test-database';
import type { TestDatabase } from '@flotilla/registry/test-database';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../ingress.suite.js';
import type { GatewayOptions } from '../gateway-options.js';
import { GatewayStage, lampId } from '../gateway-stage.suite.js';
import type { MqttDevice } from '../mqtt/mqtt-device.suite.js';

const STATUS = 'self.get_device_status';

let database: TestDatabase;

beforeAll(async () => {
  database = await openTestDatabase();
});

afterAll(async () => {
  await database.close();
});

/** One hub process as far as its gateway needs it. */
interface HubProcess {
  readonly registry: Registry;
  readonly lease: ProcessLease;
  readonly stage: GatewayStage;
  close(): Promise<void>;
}

async function startProcess(bus: Bus, change: Partial<GatewayOptions> = {}): Promise<HubProcess> {
  const registry = await openRegistry({ databaseUrl: database.databaseUrl });
  const lease = await registry.takeLease();
  const stage = await GatewayStage.set({ gatewayId: lease.id, registry, bus, ...change });
  const close = async () => {
    await stage.close();
    await lease.release();
    await registry.close();
  };
  return { registry, lease, stage, close };
}

describe('a second connection of a device', () => {
  let bus: Bus;
  let hub: HubProcess;
  let registry: Registry;
  let stage: GatewayStage;

  beforeAll(async () => {
    bus = await openLocalBus({ databaseUrl: database.databaseUrl, logger: silentLogger });
  });

  afterAll(async () => {
    await bus.close();
  });

  beforeEach(async () => {
    hub = await startProcess(bus);
    ({ registry, stage } = hub);
  });

  afterEach(async () => {
    await hub.close();
  });

  it("takes over, also with another client id, and the first one's end changes nothing", async () => {
    const first = await stage.connectLamp({ silentOn: ['tools/call'] });
    const { epoch } = await stage.entry();
    const pending = stage.call({ epoch });
    await vi.waitFor(() => expect(first.messages.some((text) => text.includes('tools/call'))).toBe(true));
    await stage.connectLamp({ clientId: 'GID_lab@@@02_5E_7A_10_C4_9F@@@two' });
    expect((await pending).outcome).toMatchObject({ kind: 'UNKNOWN', error: { code: 'SESSION_CLOSED' } });
    await first.closed();
    const newer = await stage.entry(epoch);
    expect((await stage.event('device.disconnected')).data).toEqual({ reason: 'taken_over', epoch });
    expect(await registry.devices.find(lampId)).toMatchObject({ presence: 'ONLINE', epoch: newer.epoch });
    expect((await stage.call({ epoch: newer.epoch })).outcome.kind).toBe('SUCCEEDED');
    expect((await stage.call({ epoch })).outcome).toMatchObject({
      kind: 'NOT_SENT',
      error: { code: 'DEVICE_OFFLINE' },
    });
    expect(stage.gateway.status().counts).toContainEqual({ name: 'takeover_all', count: 1 });
    expect(stage.presences).not.toContain('OFFLINE');
  });

  it('takes over by another way in as well', async () => {
    const first = await stage.connectLamp();
    const { epoch } = await stage.entry();
    const socket = await stage.connectTalkingLamp();
    await first.closed();
    await stage.entry(epoch);
    expect(await registry.devices.find(lampId)).toMatchObject({ presence: 'ONLINE', transport: 'WEBSOCKET' });
    const isOver = once(socket, 'close');
    await stage.connectLamp();
    expect(await isOver).toMatchObject([1000, Buffer.from('taken_over')]);
  });

  it('ends rightly when connections follow each other faster than they are written', async () => {
    let last: MqttDevice | undefined;
    for (let round = 0; round < 8; round += 1) last = await stage.connectLamp({ version: `2.4.${round}` });
    await vi.waitFor(async () =>
      expect(await registry.devices.find(lampId)).toMatchObject({ presence: 'ONLINE', firmwareVersion: '2.4.7' }),
    );
    const { epoch } = await stage.entry();
    expect((await registry.devices.find(lampId))?.epoch).toBe(epoch);
    expect((await stage.call({ epoch })).outcome.kind).toBe('SUCCEEDED');
    expect(last?.isClosed).toBe(false);
  });

  it.each([
    ['next write', () => Promise.resolve(stage.gateway.callServer.refreshTools(lampId))],
    ['next report', () => stage.call({ call: { ...stage.newCall(), tool: STATUS } })],
  ])('that was not announced on the feed ends the session with its %s', async (_what, write) => {
    const device = await stage.connectLamp({ tools: [STATUS], texts: { [STATUS]: '{"audio_speaker":{"volume":7}}' } });
    await stage.entry();
    const elsewhere = {
      deviceId: lampId,
      dialect: 'XIAOZHI',
      transport: 'MQTT',
      reachability: 'ALWAYS',
      remoteAddress: undefined,
    } as const;
    await registry.devices.connect({ ...elsewhere, connectedAt: Date.now() });
    await write();
    await device.closed();
    expect((await stage.event('device.disconnected')).data).toMatchObject({ reason: 'taken_over' });
  });
});

interface TwoBuses {
  readonly here: Bus;
  readonly there: Bus;
  close(): Promise<void>;
}

async function shareLocalBus(): Promise<TwoBuses> {
  const bus = await openLocalBus({ databaseUrl: database.databaseUrl, logger: silentLogger });
  return { here: bus, there: bus, close: () => bus.close() };
}

async function openRedisBuses(): Promise<TwoBuses> {
  const server = await RedisServer.start();
  const open = () => openRedisBus({ redisUrl: server.url, secret: 'of the hub', logger: silentLogger });
  const [here, there] = await Promise.all([open(), open()]);
  const close = async () => {
    await Promise.all([here.close(), there.close()]);
    await server.stop();
  };
  return { here, there, close };
}

function describeMove(name: string, openBuses: () => Promise<TwoBuses>): void {
  describe(`a device that moves to another gateway (${name})`, () => {
    let buses: TwoBuses;
    let here: HubProcess;
    let there: HubProcess;

    beforeEach(async () => {
      buses = await openBuses();
      [here, there] = await Promise.all([startProcess(buses.here), startProcess(buses.there)]);
    });

    afterEach(async () => {
      await Promise.all([here.close(), there.close()]);
      await buses.close();
    });

    it('is taken over there at once, although its old connection still looks alive here', async () => {
      const old = await here.stage.connectLamp({ silentOn: ['tools/call'] });
      const { epoch } = await here.stage.entry();
      const pending = here.stage.call({ epoch });
      await vi.waitFor(() => expect(old.messages.some((text) => text.includes('tools/call'))).toBe(true));
      await there.stage.connectLamp();
      await old.closed();
      expect((await pending).outcome).toMatchObject({ kind: 'UNKNOWN', error: { code: 'SESSION_CLOSED' } });
      const newer = await there.stage.entry(epoch);
      expect(newer.gatewayId).toBe(there.lease.id);
      expect((await there.stage.event('device.disconnected')).data).toEqual({ reason: 'taken_over', epoch });
      expect(here.stage.gateway.status().sessions).toEqual([]);
      expect(here.stage.gateway.status().counts).toContainEqual({ name: 'takeover_all', count: 1 });
      expect((await there.stage.call({ epoch: newer.epoch })).outcome.kind).toBe('SUCCEEDED');
      expect(await here.registry.devices.find(lampId)).toMatchObject({ presence: 'ONLINE', epoch: newer.epoch });
      expect(there.stage.presences).not.toContain('OFFLINE');
    });

    it('keeps one session when it goes to and fro faster than that is written', async () => {
      const devices: MqttDevice[] = [];
      for (let round = 0; round < 6; round += 1)
        devices.push(await (round % 2 === 0 ? here : there).stage.connectLamp());
      const live = () => [here, there].flatMap(({ stage }) => stage.gateway.status().sessions);
      await vi.waitFor(() => expect(live()).toEqual([{ state: 'ready', transport: 'MQTT', count: 1 }]), {
        timeout: 5000,
      });
      const { epoch, gatewayId } = await vi.waitFor(async () => {
        const entry = await there.stage.entry();
        expect(await here.registry.devices.find(lampId)).toMatchObject({ presence: 'ONLINE', epoch: entry.epoch });
        return entry;
      });
      const holder = gatewayId === here.lease.id ? here : there;
      expect((await holder.stage.call({ epoch })).outcome.kind).toBe('SUCCEEDED');
      expect(devices.filter((device) => !device.isClosed)).toHaveLength(1);
    });
  });
}

describe('two boards with one identity at two gateways', () => {
  it('flap as soon as at one gateway, because a takeover counts twice there, too', async () => {
    const { close, here: bus } = await shareLocalBus();
    const limits = { retryDelayMs: 10, readinessWaitMs: 10, reconnectsMax: 4 };
    const [here, there] = await Promise.all([startProcess(bus, { limits }), startProcess(bus, { limits })]);
    try {
      let epoch = 0;
      for (const { stage } of [here, there, here, there]) {
        await stage.connectLamp();
        ({ epoch } = await stage.entry(epoch));
      }
      await vi.waitFor(() => expect(here.stage.gateway.status().sessions).toEqual([]));
      const device = await here.stage.connectLamp();
      expect(await device.connack()).toBe(3);
      expect(here.stage.gateway.status().flapping).toBe(1);
    } finally {
      await Promise.all([here.close(), there.close()]);
      await close();
    }
  });
});

describeMove('one bus', shareLocalBus);
describe.skipIf(!isRedisInstalled())('over Redis', () => describeMove('Redis', openRedisBuses));
