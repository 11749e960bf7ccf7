/**
 * Several gateways, each with a public address: OTA answers spread devices over those that
 * are alive, not full and not stopping.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type AddressInfo } from 'node:net';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { callTool, deviceThat, isOnline } from '../src/devices/device-api.js';
import { answerAsFirmware, lamp } from '../src/devices/firmware.js';
import { askOta } from '../src/devices/ota-client.js';
import { RawMqttDevice } from '../src/devices/raw-mqtt-device.js';
import { eventually } from '../src/eventually.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { isRedisInstalled, startRedis, type RedisServer } from '../src/hub/redis-server.js';
import { openTestDatabase, type TestDatabase } from '../src/hub/test-database.js';

const BOARDS = 24;
/** A killed process is noticed when its lease of 15 s has ended. */
const LEASE_ENDS_WITHIN_MS = 40_000;
const SERVER_UNAVAILABLE = 3;

const boards = Array.from({ length: BOARDS }, (_, index) => ({
  mac: `02:00:00:00:00:${index.toString(16).padStart(2, '0')}`,
  uuid: randomUUID(),
}));

describe.skipIf(!isRedisInstalled())('gateways with separate addresses', () => {
  let database: TestDatabase;
  let redis: RedisServer;
  let sql: Client;
  let ports: readonly number[];
  const running = new Map<number, HubProcess>();
  const devices: RawMqttDevice[] = [];
  const secrets = {
    FLOTILLA_ADMIN_KEY: randomBytes(32).toString('hex'),
    FLOTILLA_DEVICE_SECRET: randomBytes(32).toString('hex'),
  };

  const start = async (port: number, env: Readonly<Record<string, string>> = {}): Promise<HubProcess> => {
    const hub = await startHub({
      env: {
        ...secrets,
        DATABASE_URL: database.url,
        REDIS_URL: redis.url,
        FLOTILLA_ENROLMENT: 'open',
        FLOTILLA_MQTT_PORT: String(port),
        FLOTILLA_PUBLIC_MQTT: ports.map((each) => `127.0.0.1:${each}`).join(','),
        FLOTILLA_OWN_MQTT: `127.0.0.1:${port}`,
        ...env,
      },
    });
    running.set(port, hub);
    return hub;
  };
  /** The MQTT port that each board gets from this gateway. */
  const portsFrom = async (hub: HubProcess): Promise<readonly number[]> => {
    const answers = await Promise.all(boards.map((board) => askOta(hub, board)));
    return answers.map(({ body }) => Number(String(body.mqtt?.['endpoint']).split(':')[1]));
  };
  /** Waits until so many gateways have announced that they accept devices. */
  const announced = (count: number) =>
    eventually(
      async () =>
        (await sql.query<{ count: number }>('SELECT count(*)::int AS count FROM hub_process WHERE accepts_devices'))
          .rows,
      ([row]) => row?.count === count,
    );
  const namedBy = async (hub: HubProcess) => [...new Set(await portsFrom(hub))].sort();
  const gatewayHealth = async (hub: HubProcess) => {
    const answer = await fetch(`${hub.httpUrl}/health/gateway`);
    return { status: answer.status, ...((await answer.json()) as object) };
  };

  beforeAll(async () => {
    database = await openTestDatabase({ migrated: true });
    sql = new Client({ connectionString: database.url });
    await sql.connect();
    redis = await startRedis();
    ports = [...(await freePorts(3))].sort();
  });
  afterEach(async () => {
    for (const device of devices.splice(0)) device.drop();
    for (const hub of running.values()) {
      await hub.stop();
      removeDataDir(hub.dataDir);
    }
    running.clear();
  });
  afterAll(async () => {
    await sql.end();
    await redis.stop();
    await database.close();
  });

  it('share the boards, which keep their address, and a killed gateway is no longer named', async () => {
    const [first = 0, second = 0, third = 0] = ports;
    const [asked, killed] = await Promise.all([start(first), start(second), start(third)]);
    await announced(3);
    // Each process reads of the others by itself, once a second.
    const [before = []] = await eventually(
      () => Promise.all([portsFrom(asked), portsFrom(killed)]),
      ([one, other]) => new Set(one).size === 3 && String(one) === String(other),
    );
    running.delete(second);
    await killed.kill();
    removeDataDir(killed.dataDir);
    const after = await eventually(
      () => portsFrom(asked),
      (named) => !named.includes(second),
      LEASE_ENDS_WITHIN_MS,
    );
    expect(after.filter((port, index) => before[index] !== second && port !== before[index])).toEqual([]);
  });

  it('refuse further boards when they are full, and the boards get another address', async () => {
    const [small = 0, large = 0] = ports;
    const [full, other] = await Promise.all([start(small, { FLOTILLA_DEVICES_MAX: '1' }), start(large)]);
    await eventually(
      () => namedBy(other),
      (named) => named.length === 2,
    );
    devices.push(await RawMqttDevice.connect(full, boards[0]?.mac ?? ''));
    expect(await gatewayHealth(full)).toEqual({ status: 503, sessions: 1, max: 1, ready: false, draining: false });
    expect(await refusalOf(full, boards[1]?.mac ?? '')).toBe(SERVER_UNAVAILABLE);
    await eventually(
      () => namedBy(other),
      (named) => named.length === 1 && named[0] === large,
    );
    // The board that is connected may connect again.
    devices.push(await RawMqttDevice.connect(full, boards[0]?.mac ?? ''));
    devices.push(await RawMqttDevice.connect(other, boards[1]?.mac ?? ''));
    expect(await gatewayHealth(other)).toMatchObject({ status: 200, sessions: 1, ready: true });
  });

  it('are no longer named while they drain', async () => {
    const [stopping = 0, staying = 0] = ports;
    const [drained, other] = await Promise.all([start(stopping), start(staying)]);
    await eventually(
      () => namedBy(other),
      (named) => named.length === 2,
    );
    // A call in flight holds the drain up until the device is gone.
    const { mac } = boards[0] ?? { mac: '' };
    const device = await RawMqttDevice.connect(drained, mac, {
      answer: (text) => answerAsFirmware(text, { silentOn: ['tools/call'] }),
    });
    await deviceThat(other, mac, isOnline);
    const called = callTool(other, { deviceId: mac, tool: lamp.name, timeoutMs: 60_000 });
    // Reported where it is awaited.
    called.catch(() => undefined);
    await eventually(
      () => device.packets.filter((packet) => packet.cmd === 'publish' && packet.payload.includes('tools/call')),
      (calls) => calls.length === 1,
    );
    running.delete(stopping);
    const stopped = drained.stop('SIGTERM');
    // Its own OTA endpoint still answers, and sends boards to the other one.
    await eventually(
      () => namedBy(drained),
      (named) => named.length === 1 && named[0] === staying,
    );
    expect(await gatewayHealth(drained)).toMatchObject({ status: 503, ready: false, draining: true });
    await eventually(
      () => namedBy(other),
      (named) => named.length === 1 && named[0] === staying,
    );
    device.drop();
    expect(await stopped).toBe(0);
    expect(await called).toMatchObject({ outcome: 'UNKNOWN' });
    removeDataDir(drained.dataDir);
  });
});

/** The return code of a CONNACK that refuses the board. */
async function refusalOf(hub: HubProcess, mac: string): Promise<number> {
  const refused = await RawMqttDevice.connect(hub, mac).catch((error: unknown) => String(error));
  const [, code] = /code (\d)/.exec(String(refused)) ?? [];
  return Number(code);
}

async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => new Promise((resolve) => server.once('listening', resolve))));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
