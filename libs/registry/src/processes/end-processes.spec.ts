/** What a process finds of one that died, on a real PostgreSQL. */
import type { HubProcessId } from '@flotilla/mcp';
import { v7 } from 'uuid';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Database } from '../database/database.js';
import { silentLogger } from '../registry-logger.js';
import { openTestDatabase } from '../test-database.js';
import type { TestDatabase } from '../test-database.js';
import { endOthers } from './end-processes.js';

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await openTestDatabase();
  database = new Database(testDatabase.databaseUrl, 2, silentLogger);
});
afterAll(async () => {
  await database.close();
  await testDatabase.close();
});

it('is an event of each device that went offline, and none of one that is connected elsewhere', async () => {
  const [own, dead] = [v7() as HubProcessId, v7() as HubProcessId];
  const run = (text: string, values: unknown[]) => database.query({ text }, values);
  await run(
    `INSERT INTO hub_process (id, host, pid, started_at, lease_until)
     SELECT id, 'spec', 1, now(), now() FROM unnest($1::uuid[]) AS id`,
    [[own, dead]],
  );
  await run(
    `INSERT INTO device (id, dialect, reachability, online, gateway_id) VALUES ('gone', 'XIAOZHI', 'ALWAYS', true, $1),
       ('moved', 'XIAOZHI', 'ALWAYS', true, $2), ('away', 'XIAOZHI', 'ALWAYS', false, $1)`,
    [dead, own],
  );
  await run(
    `INSERT INTO session (device_id, epoch, transport, gateway_id, connected_at, disconnected_at)
     VALUES ('gone', 1, 'MQTT', $1, now(), now()), ('gone', 2, 'MQTT', $1, now(), NULL),
       ('moved', 1, 'MQTT', $1, now(), NULL), ('moved', 2, 'MQTT', $2, now(), NULL)`,
    [dead, own],
  );
  const { gone, events } = await endOthers(database, { append: (event) => ({ id: v7(), ...event }) }, own);
  expect(gone).toEqual(['gone']);
  expect(events).toMatchObject([
    { type: 'device.disconnected', deviceId: 'gone', data: { reason: 'hub_crashed', epoch: 2 } },
  ]);
  const closed = await run('SELECT device_id, epoch FROM session WHERE close_reason IS NOT NULL ORDER BY 1', []);
  expect(closed).toEqual([
    { device_id: 'gone', epoch: 2 },
    { device_id: 'moved', epoch: 1 },
  ]);
});
