/** Plans of session statements that PostgreSQL made over empty tables, as for the first fleet. */
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

describe('a session statement that was planned over empty tables', () => {
  it.each([
    { statement: CONNECTING.statement, types: 'json, uuid', values: "'[]', NULL" },
    { statement: READY.statement, types: 'json', values: "'[]'" },
    { statement: CLOSED.statement, types: 'json', values: "'[]'" },
    { statement: REPORTED.statement, types: 'json', values: "'[]'" },
  ])('reads devices and sessions by key: $statement.name', async ({ statement, types, values }) => {
    await client.query(`PREPARE "${statement.name ?? ''}" (${types}) AS ${statement.text}`);
    const { rows } = await client.query<Record<'QUERY PLAN', string>>(
      `EXPLAIN EXECUTE "${statement.name ?? ''}" (${values})`,
    );
    const scans = rows
      .map((row) => row['QUERY PLAN'])
      .filter((line) => /Scan .*on (device|session|tool_set_use)\b/.test(line));
    expect(scans.length).toBeGreaterThan(0);
    for (const scan of scans)
      expect(scan).toMatch(/Index Scan using (device_pkey|session_pkey|session_open_idx|tool_set_use_pkey) /);
  });
});
