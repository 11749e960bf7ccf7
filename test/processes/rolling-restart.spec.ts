/**
 * An upgrade without an outage: all processes are replaced one by one while jobs run and people
 * call devices. The former processes speak the messages of 0.1.0, and the database is already that
 * of the version after this one.
 */
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool } from '../src/devices/device-api.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { openBalancer, type Balancer } from '../src/hub/balancer.js';
import { FORMER_VERSION_SPEAKS, formerVersion } from '../src/hub/former-version.js';
import { removeDataDir, startHub, type HubOptions, type HubProcess } from '../src/hub/hub-process.js';
import { isRedisInstalled, startRedis, type RedisServer } from '../src/hub/redis-server.js';
import { openTestDatabase, type TestDatabase } from '../src/hub/test-database.js';
import { finished, jobOf, online } from '../src/jobs/job-api.js';
import { PATIENCE } from '../src/patience.js';

const isLong = process.env['FLOTILLA_TEST_LONG'] === '1';
/** The balancers hold two sockets for each device, and many machines allow 20,000 files. */
const DEVICES = isLong ? 9_800 : 200;
const DRAIN_SECONDS = isLong ? 60 : 20;
/** A job takes some 20 s, the long one 100 s, so that processes are replaced in the midst of it. */
const PER_MINUTE = isLong ? 6_000 : 600;
const TEST_MS = isLong ? 1_500_000 : 240_000 * PATIENCE;
/** Not idempotent: the hub never repeats it, so a call that is cut off would end UNKNOWN. */
const JOB_TOOL = 'self.audio_speaker.set_volume';
const READ_TOOL = 'self.get_device_status';

type Role = 'gateway' | 'api' | 'worker';

describe.skipIf(!isRedisInstalled())('a hub whose processes are replaced one by one', () => {
  let database: TestDatabase;
  let redis: RedisServer;
  let balancers: { readonly http: Balancer; readonly mqtt: Balancer; readonly api: Balancer };
  let fleet: SimulatedFleet;
  const processes = new Map<HubProcess, Role>();
  const secrets = {
    FLOTILLA_ADMIN_KEY: randomBytes(32).toString('hex'),
    FLOTILLA_DEVICE_SECRET: randomBytes(32).toString('hex'),
  };

  const start = async (role: Role, version: HubOptions = {}): Promise<HubProcess> => {
    const shared = { ...secrets, DATABASE_URL: database.url, REDIS_URL: redis.url };
    const drain = { FLOTILLA_DRAIN_SECONDS: String(DRAIN_SECONDS) };
    const env = { ...shared, ...drain, FLOTILLA_ROLES: role, ...version.env };
    const hub = await startHub({ ...version, env });
    processes.set(hub, role);
    if (role === 'api') balancers.api.add(hub.httpUrl, hub.httpPort);
    if (role === 'gateway') {
      balancers.http.add(hub.httpUrl, hub.httpPort);
      balancers.mqtt.add(hub.httpUrl, hub.mqttPort);
    }
    return hub;
  };
  /** As an orchestrator does: the new process is ready before the former one gets SIGTERM. */
  const replace = async (former: HubProcess, role: Role): Promise<void> => {
    await start(role);
    processes.delete(former);
    expect(await former.stop('SIGTERM')).toBe(0);
    for (const balancer of Object.values(balancers)) balancer.remove(former.httpUrl);
    expect(former.log()).toContain(FORMER_VERSION_SPEAKS);
    removeDataDir(former.dataDir);
  };

  beforeAll(async () => {
    database = await openTestDatabase({ migrated: true });
    await migrateAhead(database.url);
    redis = await startRedis();
    balancers = { http: await openBalancer(), mqtt: await openBalancer(), api: await openBalancer() };
  });
  afterAll(async () => {
    await fleet.stop();
    for (const hub of processes.keys()) {
      await hub.stop();
      removeDataDir(hub.dataDir);
    }
    for (const balancer of Object.values(balancers)) await balancer.close();
    await redis.stop();
    await database.close();
  });

  it(
    `keeps ${DEVICES} devices reachable: no call of a job or a person fails, is unknown or runs twice`,
    async () => {
      const [worker, first, gateway, otherGateway] = await Promise.all([
        start('worker', formerVersion),
        start('api', formerVersion),
        start('gateway', formerVersion),
        start('gateway', formerVersion),
      ]);
      // People reach the API through the balancer, whichever process is behind it.
      const api = { ...first, httpUrl: `http://127.0.0.1:${balancers.api.port}` };
      const door = { ...gateway, httpPort: balancers.http.port, mqttPort: balancers.mqtt.port };
      fleet = startFleet(door, { devices: DEVICES, profile: 'lamp', transport: 'mixed', seed: 23 });
      await online(api, DEVICES, 240_000);
      const deviceIds = Object.keys(await fleet.calls());
      const endJobs = runJobs(api);
      const endCalls = callAll(api, deviceIds);

      for (const [former, role] of [
        [worker, 'worker'],
        [first, 'api'],
        [gateway, 'gateway'],
        [otherGateway, 'gateway'],
      ] as const)
        await replace(former, role);
      const outcomes = await endCalls();
      const jobs = await endJobs();
      const { devices } = await fleet.counts();
      expect(new Set(Object.values(devices).map((calls) => calls[JOB_TOOL]))).toEqual(new Set([jobs]));
      expect(new Set(outcomes)).toEqual(new Set(['SUCCEEDED']));
      await online(api, DEVICES, 60_000);
    },
    TEST_MS,
  );
});

/** Expands the schema as a next version may: with columns that no present statement knows. */
async function migrateAhead(databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  for (const table of ['device', 'session', 'job', 'job_target', 'call', 'event', 'hub_process'])
    await client.query(`ALTER TABLE ${table} ADD COLUMN of_next_version text NOT NULL DEFAULT ''`);
  await client.query(
    `INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name, applied_steps_count)
     VALUES ('next', 'none', now(), '99990101000000_next_version', 1)`,
  );
  await client.end();
}

/** Runs one job over the fleet after the other until it is stopped; resolves to their number. */
function runJobs(api: HubProcess): () => Promise<number> {
  let isOver = false;
  let count = 0;
  const running = (async () => {
    for (; !isOver; count++) {
      const input = { tool: JOB_TOOL, arguments: { volume: 20 }, devices: { all: true }, perMinute: PER_MINUTE };
      const { conclusion, progress } = await finished(api, await jobOf(api, input, `upgrade-${count}`), TEST_MS);
      expect({ conclusion, progress }).toMatchObject({
        conclusion: 'SUCCEEDED',
        progress: { succeeded: DEVICES, unknown: 0, failed: 0, rejected: 0, skipped: 0 },
      });
    }
  })();
  // Reported where it is awaited.
  running.catch(() => undefined);
  return async () => {
    isOver = true;
    await running;
    return count;
  };
}

/**
 * Calls one device after the other until it is stopped. A call that certainly was not sent, because
 * its device is between two gateways, is repeated as its error says.
 */
function callAll(api: HubProcess, deviceIds: readonly string[]): () => Promise<readonly string[]> {
  let isOver = false;
  const outcomes: string[] = [];
  const calling = (async () => {
    for (let turn = 0; !isOver; turn++) {
      const deviceId = deviceIds[turn % deviceIds.length];
      let call = await callTool(api, { deviceId, tool: READ_TOOL });
      while (call.outcome === 'NOT_SENT') {
        expect(['DEVICE_OFFLINE', 'UNAVAILABLE']).toContain(call.error?.code);
        call = await callTool(api, { deviceId, tool: READ_TOOL });
      }
      outcomes.push([call.outcome, ...(call.error === null ? [] : [call.error.code])].join(' '));
    }
  })();
  calling.catch(() => undefined);
  return async () => {
    isOver = true;
    await calling;
    return outcomes;
  };
}
