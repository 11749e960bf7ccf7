/** Restarts of boards that ask their OTA address at each boot. */
import { createHash, randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openContactWriter } from '../provisioning/credentials/contact-writer.js';
import { newContact } from '../provisioning/provisioning-fixture.suite.js';
import { Database } from '../database/database.js';
import { silentLogger } from '../registry-logger.js';
import { openTestDatabase, type TestDatabase } from '../test-database.js';
import { EventStore } from '../events/event-store.js';
import { RestartStore } from './restart-store.js';

const MINUTE = 60_000;
/** Long after the hub of this spec started. */
const T = Date.now() + 60 * MINUTE;
const uuid = randomUUID();
const contact = newContact({ clientUuid: uuid });

let testDatabase: TestDatabase;
let database: Database;
let raw: pg.Client;
let boards: ReturnType<typeof openContactWriter>;
let events: EventStore;
let restarts: RestartStore;

beforeAll(async () => {
  testDatabase = await openTestDatabase();
  database = new Database(testDatabase.databaseUrl, 2, silentLogger);
  raw = new pg.Client({ connectionString: testDatabase.databaseUrl });
  await raw.connect();
  boards = openContactWriter(database, silentLogger, () => undefined);
  events = new EventStore(database, undefined, silentLogger);
  restarts = new RestartStore(database, events, silentLogger);
  await raw.query(
    `INSERT INTO device (id, dialect, reachability, client_uuid_hash) VALUES ($1, 'XIAOZHI', 'ALWAYS', $2)`,
    [contact.deviceId, createHash('sha256').update(uuid).digest('hex')],
  );
});
afterAll(async () => {
  await boards.close();
  await restarts.close();
  await events.close();
  await raw.end();
  await database.close();
  await testDatabase.close();
});

describe('a board', () => {
  it('restarts with each OTA request after its first, and is charged with the version that ran before', async () => {
    const boot = (at: number, firmwareVersion: string, resetReason?: string) =>
      boards.add({ ...contact, at, firmwareVersion, resetReason });
    await boot(T, '1.0.0');
    // Repeated because its answer was lost.
    await boot(T + 2_000, '1.0.0');
    await boot(T + 10 * MINUTE, '1.1.0', 'panic');
    await boot(T + 11 * MINUTE, '1.1.0');
    const { restarts: judged } = await restarts.judge(T + 20 * MINUTE, {
      rebootMs: 5 * MINUTE,
      firmwareMs: 20 * MINUTE,
    });
    expect(judged).toEqual([
      {
        deviceId: contact.deviceId,
        at: T + 10 * MINUTE,
        cause: 'UNEXPECTED',
        via: 'OTA',
        firmwareVersion: '1.0.0',
        bootedVersion: '1.1.0',
        reason: 'panic',
      },
      {
        deviceId: contact.deviceId,
        at: T + 11 * MINUTE,
        cause: 'UNEXPECTED',
        via: 'OTA',
        firmwareVersion: '1.1.0',
        bootedVersion: '1.1.0',
        reason: undefined,
      },
    ]);
  });

  it('restarts with its first noted OTA request, when it had a session before', async () => {
    const own = newContact({ clientUuid: randomUUID() });
    // The session that this boot opens is written before the boot.
    await raw.query(
      `WITH d AS (INSERT INTO device (id, dialect, reachability, client_uuid_hash, connected_at)
         VALUES ($1, 'XIAOZHI', 'ALWAYS', $2, $4))
       INSERT INTO session (device_id, epoch, transport, connected_at)
       VALUES ($1, 1, 'MQTT', $3), ($1, 2, 'MQTT', $4)`,
      [own.deviceId, createHash('sha256').update(own.clientUuid).digest('hex'), new Date(T), new Date(T + MINUTE + 20)],
    );
    await boards.add({ ...own, at: T + MINUTE, firmwareVersion: '1.0.0' });
    const { restarts: judged } = await restarts.judge(T + 20 * MINUTE, {
      rebootMs: 5 * MINUTE,
      firmwareMs: 20 * MINUTE,
    });
    expect(judged).toMatchObject([{ deviceId: own.deviceId, at: T + MINUTE, cause: 'UNEXPECTED' }]);
  });
});
