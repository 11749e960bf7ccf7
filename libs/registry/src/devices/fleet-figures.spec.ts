import pg from 'pg';
import type { DeviceId } from '@flotilla/mcp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProcessLease, Registry } from '../index.js';
import { Database } from '../database/database.js';
import { openRegistry } from '../index.js';
import { silentLogger } from '../registry-logger.js';
import { openTestDatabase, type TestDatabase } from '../test-database.js';
import { FleetFiguresStore } from './fleet-figures.js';

const AT = Date.now() - 3_600_000;
const MINUTE = 60_000;

let database: TestDatabase;
let registry: Registry;
let lease: ProcessLease;

async function connect(id: string, at: number, greeting: { model: string; firmwareVersion: string }): Promise<number> {
  const { epoch } = await registry.devices.connect({
    deviceId: id as DeviceId,
    dialect: 'XIAOZHI',
    transport: 'MQTT',
    reachability: 'ALWAYS',
    remoteAddress: undefined,
    connectedAt: at,
  });
  const session = {
    deviceId: id as DeviceId,
    epoch,
    gatewayId: lease.id,
    toolSetHash: undefined,
    toolsComplete: true,
    at: at + 1,
  };
  await registry.devices.ready({ ...session, ...greeting });
  return epoch;
}

beforeAll(async () => {
  database = await openTestDatabase();
  registry = await openRegistry({ databaseUrl: database.databaseUrl });
  lease = await registry.takeLease({ roles: ['gateway'], version: '1.2.3' });
  const lamp = { model: 'lamp', firmwareVersion: '1.0.0' };
  await connect('a', AT, lamp);
  const gone = await connect('b', AT + 10 * MINUTE, lamp);
  await registry.devices.closeSession({
    deviceId: 'b' as DeviceId,
    epoch: gone,
    reason: 'closed',
    at: AT + 20 * MINUTE,
  });
  await connect('c', AT + 30 * MINUTE, { model: 'speaker', firmwareVersion: '2.0.0' });
});

afterAll(async () => {
  await registry.close();
  await database.close();
});

describe('the figures of the fleet', () => {
  it('count devices by model and firmware, most first, and who of them is online', async () => {
    expect(await registry.fleetFigures.counts(undefined)).toEqual({
      deviceCount: 3,
      onlineCount: 2,
      toolsStaleCount: 3,
      neverConnectedCount: 0,
      models: [
        { value: 'lamp', deviceCount: 2, onlineCount: 1 },
        { value: 'speaker', deviceCount: 1, onlineCount: 1 },
      ],
      firmwareVersions: [
        { value: '1.0.0', deviceCount: 2, onlineCount: 1 },
        { value: '2.0.0', deviceCount: 1, onlineCount: 1 },
      ],
    });
  });

  it('count devices that never connected', async () => {
    const client = new pg.Client({ connectionString: database.databaseUrl });
    await client.connect();
    await client.query(
      `INSERT INTO device (id, dialect, reachability, model) VALUES ('new', 'XIAOZHI', 'ALWAYS', 'new')`,
    );
    expect(await registry.fleetFigures.counts({ model: 'new' })).toMatchObject({
      deviceCount: 1,
      neverConnectedCount: 1,
    });
    await client.query(`DELETE FROM device WHERE id = 'new'`);
    await client.end();
  });

  it('count within a filter, and nothing where nothing matches', async () => {
    expect(await registry.fleetFigures.counts({ model: 'speaker' })).toMatchObject({ deviceCount: 1, onlineCount: 1 });
    expect(await registry.fleetFigures.counts({ model: 'kettle' })).toMatchObject({
      deviceCount: 0,
      models: [],
      firmwareVersions: [],
    });
  });

  it('say how many devices had a session at each moment', async () => {
    const window = { since: AT + 5 * MINUTE, until: AT + 35 * MINUTE, points: 7 };
    const counts = async (filter?: { model: string }) =>
      (await registry.fleetFigures.onlineHistory(filter, window)).map(({ onlineCount }) => onlineCount);
    expect(await counts()).toEqual([1, 2, 2, 1, 1, 2, 2]);
    expect(await counts({ model: 'speaker' })).toEqual([0, 0, 0, 0, 0, 1, 1]);
    expect((await registry.fleetFigures.onlineHistory(undefined, window)).map(({ at }) => (at - AT) / MINUTE)).toEqual([
      5, 10, 15, 20, 25, 30, 35,
    ]);
  });

  it('say which processes there are, and how many sessions each holds', async () => {
    const [process] = await registry.fleetFigures.processes();
    expect(process).toMatchObject({
      id: lease.id,
      isAlive: true,
      onlineCount: 2,
      roles: ['gateway'],
      version: '1.2.3',
    });
  });

  it('count more than 20,000 devices again in the background, and fewer each time', async () => {
    const direct = new Database(database.databaseUrl, 2, silentLogger);
    let now = 0;
    const figures = new FleetFiguresStore(direct, () => (now += 10));
    const add = (model: string, from: number, to: number) =>
      direct.query(
        {
          text: `INSERT INTO device (id, dialect, reachability, model)
                 SELECT $1 || n, 'XIAOZHI', 'ALWAYS', $1 FROM generate_series($2::int, $3::int) AS n`,
        },
        [model, from, to],
      );
    const count = async (model: string) => (await figures.counts({ model })).deviceCount;
    await add('few', 1, 2);
    await add('many', 1, 20_001);
    expect([await count('few'), await count('many'), await count('many')]).toEqual([2, 20_001, 20_001]);
    await add('few', 3, 3);
    await add('many', 20_002, 20_002);
    expect([await count('few'), await count('many')]).toEqual([3, 20_001]);
    now += 1_000;
    expect(await count('many')).toBe(20_002);
    await direct.query({ text: `DELETE FROM device WHERE model IN ('few', 'many')` }, []);
    await direct.close();
  });

  it('count calls by how they ended, since when it was asked for', async () => {
    const { outcomes, since } = await registry.fleetFigures.callCounts({ model: 'lamp' }, AT);
    expect(outcomes).toEqual([]);
    expect(since).toBe(AT);
  });
});
