import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { knownMigrations, migrate } from '../database/migrate.js';
import { openTestDatabase } from '../test-database.js';
import type { TestDatabase } from '../test-database.js';
import { execute } from '../test-server.js';
import { checkDatabase } from './check-database.js';
import { pendingMigrations } from './pending-migrations.js';

const FIRST = '0001_first_tables';

describe('the migrations that a start would run', () => {
  let database: TestDatabase;
  let names: readonly string[];
  beforeAll(async () => {
    database = await openTestDatabase();
    names = (await knownMigrations()).map(({ name }) => name);
  });
  afterAll(() => database.close());

  it('are an empty list on the schema of this version', async () => {
    expect(await pendingMigrations(database.databaseUrl)).toMatchObject({
      isInstalled: true,
      pending: [],
      unknown: [],
      tables: [],
    });
  });

  it('are all later ones on the first schema, with the rows that they work on', async () => {
    await execute(database.databaseUrl, 'DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    const url = database.databaseUrl;
    expect(await pendingMigrations(url)).toMatchObject({ isInstalled: false, pending: names, tables: [] });
    await migrate(url, { only: new Set([FIRST]) });
    await execute(
      url,
      `INSERT INTO device (id, dialect, reachability)
         SELECT 'd' || n, 'XIAOZHI', 'ALWAYS' FROM generate_series(1, 5000) n; ANALYZE device`,
    );
    const { pending, tables, seconds } = await pendingMigrations(url);
    expect(pending).toEqual(names.slice(1));
    const device = tables.find(({ table }) => table === 'device');
    expect(device).toMatchObject({ rows: 5_000 });
    expect(device?.work[0]).toBe('WRITES');
    expect(seconds[1]).toBeGreaterThan(seconds[0]);
    expect(seconds[0]).toBeGreaterThan(0);
    await migrate(url);
    expect((await pendingMigrations(url)).pending).toEqual([]);
  });

  it('include those of a newer version, which this one does not know', async () => {
    await execute(
      database.databaseUrl,
      `INSERT INTO "_prisma_migrations" (id, checksum, finished_at, migration_name, started_at, applied_steps_count)
       VALUES ('later', 'sum', now(), '9999_later', now(), 1)`,
    );
    expect((await pendingMigrations(database.databaseUrl)).unknown).toEqual(['9999_later']);
  });
});

describe('the facts about a server', () => {
  it('are its version, settings, round trips and clock', async () => {
    const { databaseUrl, close } = await openTestDatabase();
    const facts = await checkDatabase(databaseUrl, Date.now);
    await close();
    expect(facts.versionNumber).toBeGreaterThanOrEqual(150_000);
    expect(facts.version).toMatch(/^\d+\.\d+/);
    expect(facts).toMatchObject({ encoding: 'UTF8', settings: { default_transaction_read_only: 'off' } });
    expect(Math.abs(facts.clockAheadMs)).toBeLessThan(1_000);
    expect(facts.connections.used).toBeGreaterThan(0);
    expect(facts.databaseBytes).toBeGreaterThan(1e6);
  });

  it('are an error that names the cause if it does not answer', async () => {
    await expect(checkDatabase('postgres://flotilla@127.0.0.1:1/none', Date.now)).rejects.toMatchObject({
      code: 'DATABASE_UNAVAILABLE',
    });
  });
});
