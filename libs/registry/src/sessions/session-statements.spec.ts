/**
 * Plans of session statements that PostgreSQL made over empty tables, as for the first fleet, and
 * while no device was connected, as before a fleet comes back.
 */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestDatabase } from '../test-database.js';
import type { TestDatabase } from '../test-database.js';
import { CLOSED, CONNECTING, READY, REPORTED } from './session-statements.js';

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await openTestDatabase();
  client = new pg.Client({ connectionString: database.databaseUrl });
  await client.connect();
  await client.query('SET plan_cache_mode = force_generic_plan');
});

afterAll(async () => {
  await client.end();
  await database.close();
});

const statements = [
  { statement: CONNECTING.statement, types: 'json, uuid', values: "'[]', NULL" },
  { statement: READY.statement, types: 'json', values: "'[]'" },
  { statement: CLOSED.statement, types: 'json', values: "'[]'" },
  { statement: REPORTED.statement, types: 'json', values: "'[]'" },
];

describe('a session statement', () => {
  it.each(statements)('reads by key over empty tables: $statement.name', scansByKey);

  describe('while all devices are away', () => {
    beforeAll(async () => {
      await client.query('DEALLOCATE ALL');
      await client.query(
        `INSERT INTO device (id, dialect, reachability)
         SELECT 'away-' || n, 'XIAOZHI', 'ALWAYS' FROM generate_series(1, 3000) n`,
      );
      await client.query(
        `INSERT INTO session (device_id, epoch, transport, connected_at, disconnected_at)
         SELECT 'away-' || n, e, 'MQTT', now(), now() FROM generate_series(1, 3000) n, generate_series(1, 3) e`,
      );
      await client.query(
        `INSERT INTO tool_set_use (device_id, tool_set_hash, firmware_version, first_seen_at, last_seen_at)
         SELECT 'away-' || n, 'hash', '1.0.0', now(), now() FROM generate_series(1, 3000) n`,
      );
      await client.query('ANALYZE');
    });

    it.each(statements)('reads by key: $statement.name', scansByKey);
  });
});

async function scansByKey({ statement, types, values }: (typeof statements)[number]): Promise<void> {
  await client.query(`PREPARE "${statement.name ?? ''}" (${types}) AS ${statement.text}`);
  const { rows } = await client.query<Record<'QUERY PLAN', string>>(
    `EXPLAIN EXECUTE "${statement.name ?? ''}" (${values})`,
  );
  const scans = rows
    .map((row) => row['QUERY PLAN'])
    .filter((line) => /Scan .*on (device|session|tool_set_use)\b/.test(line));
  expect(scans.length).toBeGreaterThan(0);
  for (const scan of scans)
    expect(scan).toMatch(/Index Scan (Backward )?using (device_pkey|session_pkey|tool_set_use_(pkey|device_id\w*)) /);
}
