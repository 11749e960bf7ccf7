import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { MIGRATION_LOCK } from '../database/migrate.js';
import { UPKEEP_LOCK } from '../measurements/measurement-upkeep.js';
import type { TestDatabase } from '../test-database.js';
import { execute } from '../test-server.js';
import { openEmptyDatabase, openFilledDatabase, query } from './backup-fixture.suite.js';
import { openDatabaseDump } from './dump-database.js';

let source: TestDatabase;

beforeAll(async () => {
  source = await openFilledDatabase();
});
afterAll(() => source.close());

describe('a dump', () => {
  it('does not see what is written after it began', async () => {
    const dump = await openDatabaseDump(source.databaseUrl);
    await execute(source.databaseUrl, `INSERT INTO hub_secret (name, secret, created_at) VALUES ('new', 's', now())`);
    const table = dump.contents.tables.find(({ name }) => name === 'hub_secret');
    const stream = dump.rowsOf(table ?? { name: '', columns: [] });
    const chunks = await stream.toArray();
    await dump.close();
    await execute(source.databaseUrl, `DELETE FROM hub_secret WHERE name = 'new'`);
    expect(Buffer.concat(chunks as Buffer[]).toString()).not.toContain('new');
  });

  it('has the rows of a table that a migration would write again meanwhile', async () => {
    const rows = await query(source.databaseUrl, 'SELECT FROM device');
    const dump = await openDatabaseDump(source.databaseUrl);
    const migration = 'ALTER TABLE device ADD COLUMN twin text GENERATED ALWAYS AS (id) STORED';
    await execute(source.databaseUrl, `SET lock_timeout = '500ms'; ${migration}`).catch(() => undefined);
    const stream = dump.rowsOf(dump.contents.tables.find(({ name }) => name === 'device') ?? { name: '', columns: [] });
    await stream.toArray();
    await dump.close();
    await execute(source.databaseUrl, 'ALTER TABLE device DROP COLUMN IF EXISTS twin');
    expect(stream.rowCount).toBe(rows.length);
  });

  it('begins after a migration that is under way', async () => {
    const warnings: string[] = [];
    const migration = new pg.Client({ connectionString: source.databaseUrl });
    await migration.connect();
    await migration.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const opening = openDatabaseDump(source.databaseUrl, (message) => warnings.push(message));
    await expect.poll(() => warnings).toEqual([expect.stringContaining('migrates or restores this database')]);
    await migration.query('CREATE TABLE made_meanwhile (id int)');
    await migration.end();
    const dump = await opening;
    await dump.close();
    await execute(source.databaseUrl, 'DROP TABLE made_meanwhile');
    expect(dump.contents.tables.map(({ name }) => name)).toContain('made_meanwhile');
  });

  const lock = `(${UPKEEP_LOCK})`;
  const isUpkeepPaused = async () => {
    const [row] = await query<{ free: boolean }>(source.databaseUrl, `SELECT pg_try_advisory_lock${lock} AS free`);
    return row?.free === false;
  };

  it('pauses the upkeep of measurements until it ends', async () => {
    const warnings: string[] = [];
    const dump = await openDatabaseDump(source.databaseUrl, (message) => warnings.push(message));
    expect(await isUpkeepPaused()).toBe(true);
    await dump.close();
    await expect.poll(isUpkeepPaused).toBe(false);
    expect(warnings).toEqual([]);
  });

  it('waits for a step of the upkeep, and warns if that does not end', async () => {
    const warnings: string[] = [];
    const upkeep = new pg.Client({ connectionString: source.databaseUrl });
    await upkeep.connect();
    await upkeep.query(`SELECT pg_advisory_lock${lock}`);
    await (await openDatabaseDump(source.databaseUrl, (message) => warnings.push(message), 300)).close();
    expect(warnings).toEqual([expect.stringContaining('being packed')]);
    const opening = openDatabaseDump(source.databaseUrl, (message) => warnings.push(message));
    const waiting = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`;
    await expect.poll(() => query(source.databaseUrl, waiting)).toHaveLength(1);
    await upkeep.end();
    await (await opening).close();
    expect(warnings).toHaveLength(1);
  });

  it('warns of a day whose points are in a detached table', async () => {
    const warnings: string[] = [];
    const pack = 'measurement_pack_20201122';
    const bounds = `FOR VALUES FROM ('2020-11-22T00:00:00Z') TO ('2020-11-23T00:00:00Z')`;
    await execute(source.databaseUrl, `ALTER TABLE measurement_pack ATTACH PARTITION ${pack} ${bounds}`);
    await (await openDatabaseDump(source.databaseUrl, (message) => warnings.push(message), 300)).close();
    await execute(source.databaseUrl, `ALTER TABLE measurement_pack DETACH PARTITION ${pack}`);
    expect(warnings).toEqual([expect.stringContaining('being packed')]);
  });

  it('rejects a database that no hub has used', async () => {
    const empty = await openEmptyDatabase();
    onTestFinished(() => empty.close());
    await expect(openDatabaseDump(empty.databaseUrl)).rejects.toMatchObject({
      code: 'DATABASE_REFUSED',
      message: expect.stringContaining('has no tables of a hub'),
    });
  });
});
