/**
 * Plans of the worker's statements that PostgreSQL made over empty tables, and while all devices
 * were in sync, as before an edit.
 */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestDatabase } from '../../test-database.js';
import type { TestDatabase } from '../../test-database.js';
import { CLAIM_SETS, WRITE_TARGETS } from './desired-statements.js';

const statements = [WRITE_TARGETS.statement, CLAIM_SETS.statement];
const STATE = '00000000-0000-7000-8000-000000000001';

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

describe('a statement of the worker', () => {
  it.each(statements)('reads entries by key over empty tables: $name', readsEntriesByKey);

  describe('while all devices are in sync', () => {
    beforeAll(async () => {
      await client.query('DEALLOCATE ALL');
      await client.query(
        `INSERT INTO desired_state_target (desired_state_id, device_id, state, since, observed_generation)
         SELECT $1, 'device-' || n, 'IN_SYNC', now(), 1 FROM generate_series(1, 5000) n`,
        [STATE],
      );
      // The index of entries out of sync then looks empty, and cheap where pages are cached.
      for (const state of ['APPLYING', 'IN_SYNC'])
        await client.query('UPDATE desired_state_target SET state = $1', [state]);
      await client.query('VACUUM ANALYZE desired_state_target');
      await client.query('SET random_page_cost = 0');
    });

    it.each(statements)('reads entries by key: $name', readsEntriesByKey);
  });
});

async function readsEntriesByKey({ name = '', text }: pg.QueryConfig): Promise<void> {
  await client.query(`PREPARE "${name}" (json, uuid) AS ${text}`);
  const { rows } = await client.query<Record<'QUERY PLAN', string>>(`EXPLAIN EXECUTE "${name}" ('[]', '${STATE}')`);
  const plan = rows.map((row) => row['QUERY PLAN']);
  const scans = plan.flatMap((line, index) =>
    / on desired_state_target /.test(line) && line.includes('Scan') ? [`${line} ${plan[index + 1] ?? ''}`] : [],
  );
  expect(scans.length).toBeGreaterThan(0);
  for (const scan of scans)
    expect(scan).toMatch(/Index (Only )?Scan using \w+ on .* Index Cond: .*device_id = \w+\.device_id/);
}
