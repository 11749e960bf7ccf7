import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openRegistry } from '../../index.js';
import type { Registry } from '../../index.js';
import { openTestDatabase } from '../../test-database.js';
import type { TestDatabase } from '../../test-database.js';

let database: TestDatabase;
let registry: Registry;

beforeAll(async () => {
  database = await openTestDatabase();
  registry = await openRegistry({ databaseUrl: database.databaseUrl });
  const raw = new pg.Client({ connectionString: database.databaseUrl });
  await raw.connect();
  await raw.query(`INSERT INTO device (id, dialect, reachability, model, tool_set_hash, online)
    SELECT 'd-' || n, 'XIAOZHI', 'ALWAYS', 'board-' || n % 3, nullif('set-' || n % 4, 'set-3'), true
    FROM generate_series(1, 100000) n`);
  await raw.query('ANALYZE device');
  await raw.end();
});

afterAll(async () => {
  await registry.close();
  await database.close();
});

it('counts a hundred thousand devices by their tools in a moment, online only while their gateway lives', async () => {
  const begun = performance.now();
  const counts = await registry.targetPreparation.countByToolSet({ all: true });
  // A tenth of it on an idle machine; this one is shared.
  expect(performance.now() - begun).toBeLessThan(5_000);
  expect(new Map(counts.map(({ toolSetHash, devices, online }) => [toolSetHash, [devices, online]]))).toEqual(
    new Map([
      ['set-0', [25_000, 0]],
      ['set-1', [25_000, 0]],
      ['set-2', [25_000, 0]],
      [undefined, [25_000, 0]],
    ]),
  );
  expect(await registry.targetPreparation.countByToolSet({ model: 'board-9' })).toEqual([]);
});
