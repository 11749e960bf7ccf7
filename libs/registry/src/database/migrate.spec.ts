/**
 * Two versions of the hub on one database, as during an upgrade of several processes: the former
 * one has fewer migrations.
 */
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { execute } from '../test-server.js';
import { openTestDatabase } from '../test-database.js';
import type { TestDatabase } from '../test-database.js';
import { migrate, MIGRATION_LOCK } from './migrate.js';

const own = fileURLToPath(new URL('../../../../prisma/migrations/', import.meta.url));
const NEXT = '99990101000000_next_version';

let database: TestDatabase;
/** The migrations of the next version. */
let next: string;

beforeEach(async () => {
  database = await openTestDatabase();
  next = await mkdtemp(path.join(tmpdir(), 'flotilla-migrations-'));
  await cp(own, next, { recursive: true });
  await mkdir(path.join(next, NEXT));
  const expand = 'ALTER TABLE hub_process ADD COLUMN added_by_next_version int NOT NULL DEFAULT 0;';
  await writeFile(path.join(next, NEXT, 'migration.sql'), expand);
});
afterEach(async () => {
  await database.close();
  await rm(next, { recursive: true });
});

const WAITING = `SELECT l.pid FROM pg_locks l JOIN pg_database d ON d.oid = l.database
  WHERE d.datname = current_database() AND NOT l.granted`;

async function connected(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.databaseUrl });
  await client.connect();
  return client;
}

describe('a database that a newer version has migrated', () => {
  it('is accepted by the former version, which changes nothing', async () => {
    expect(await migrate(database.databaseUrl, { folder: next })).toEqual([NEXT]);
    expect(await migrate(database.databaseUrl)).toEqual([]);
    expect(await migrate(database.databaseUrl, { folder: next })).toEqual([]);
    await execute(database.databaseUrl, 'SELECT added_by_next_version FROM hub_process');
  });
});

describe('the database of a former version', () => {
  it('gets the migrations that it lacks, on tables with rows', async () => {
    const insert = `INSERT INTO hub_process (id, host, pid, started_at, lease_until)
      VALUES ('01932f3e-0000-7000-8000-000000000001', 'former', 1, now(), now())`;
    await execute(database.databaseUrl, insert);
    expect(await migrate(database.databaseUrl, { folder: next })).toEqual([NEXT]);
    const client = new pg.Client({ connectionString: database.databaseUrl });
    await client.connect();
    const { rows } = await client.query('SELECT host, added_by_next_version FROM hub_process');
    await client.end();
    expect(rows).toEqual([{ host: 'former', added_by_next_version: 0 }]);
  });
});

describe('a migration that fails', () => {
  it('changes nothing, and the error has the reason of PostgreSQL', async () => {
    const sql = 'ALTER TABLE hub_process ADD COLUMN added_by_next_version int; SELECT 1 / 0;';
    await writeFile(path.join(next, NEXT, 'migration.sql'), sql);
    await expect(migrate(database.databaseUrl, { folder: next })).rejects.toMatchObject({
      code: 'MIGRATION_FAILED',
      message: expect.stringContaining('division by zero') as string,
    });
    await writeFile(path.join(next, NEXT, 'migration.sql'), sql.replace('1 / 0', '1'));
    expect(await migrate(database.databaseUrl, { folder: next })).toEqual([NEXT]);
  });
});

describe('a migration of a table that a long transaction reads, such as a backup', () => {
  it('waits for it, and lets other processes use the table meanwhile', async () => {
    const [backup, hub] = await Promise.all([connected(), connected()]);
    await backup.query('BEGIN; SELECT FROM hub_process');
    const [{ pid }] = (await backup.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows as [{ pid: number }];
    const onWait = vi.fn<(reason: string) => void>();
    const migrating = migrate(database.databaseUrl, { folder: next, onWait });
    await vi.waitFor(async () => expect((await hub.query(WAITING)).rows).toHaveLength(1), { timeout: 10_000 });
    await hub.query(`SET statement_timeout = '10s'`);
    await hub.query('SELECT FROM hub_process');
    await vi.waitFor(() => expect(onWait).toHaveBeenCalledOnce(), { timeout: 10_000 });
    expect(onWait).toHaveBeenCalledWith(expect.stringMatching(new RegExp(`${NEXT} waits.*process ${pid} `)));
    await backup.query('COMMIT');
    expect(await migrating).toEqual([NEXT]);
    await Promise.all([backup.end(), hub.end()]);
  });
});

describe('a migration in a deadlock with a process of the former version', () => {
  it('is repeated', async () => {
    const hub = await connected();
    await writeFile(
      path.join(next, NEXT, 'migration.sql'),
      'ALTER TABLE device ADD COLUMN next int; ALTER TABLE hub_process ADD COLUMN next int;',
    );
    // The migration waits first, so it finds the deadlock.
    await hub.query(`SET deadlock_timeout = '1min'`);
    await hub.query('BEGIN; SELECT FROM hub_process');
    const onWait = vi.fn<(reason: string) => void>();
    const migrating = migrate(database.databaseUrl, { folder: next, onWait });
    await vi.waitFor(async () => expect((await hub.query(WAITING)).rows).toHaveLength(1), { timeout: 10_000 });
    await hub.query('SELECT FROM device; COMMIT');
    expect(await migrating).toEqual([NEXT]);
    expect(onWait).toHaveBeenCalledOnce();
    await hub.end();
  });
});

describe('a process that starts while another one migrates or restores', () => {
  it('waits for it, and says so', async () => {
    const other = await connected();
    await other.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const onWait = vi.fn<(reason: string) => void>();
    const migrating = migrate(database.databaseUrl, { folder: next, onWait });
    await vi.waitFor(() => expect(onWait).toHaveBeenCalledOnce(), { timeout: 10_000 });
    expect(onWait).toHaveBeenCalledWith(expect.stringContaining('another process'));
    await other.end();
    expect(await migrating).toEqual([NEXT]);
  });
});

describe('a process that is killed during a migration', () => {
  /** Ends the connection that holds the lock of migrations, as the end of its process does. */
  const END_HOLDER = `SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
    WHERE d.datname = current_database() AND l.locktype = 'advisory' AND l.granted
      AND l.objid = ${MIGRATION_LOCK % 2 ** 32}`;

  it('leaves a script that PostgreSQL still runs: the next process waits for it, and does not repeat it', async () => {
    const [reader, watcher] = await Promise.all([connected(), connected()]);
    const sql = 'SET LOCAL lock_timeout = 0; ALTER TABLE hub_process ADD COLUMN added_by_next_version int;';
    await writeFile(path.join(next, NEXT, 'migration.sql'), sql);
    await reader.query('BEGIN; LOCK TABLE hub_process IN ACCESS SHARE MODE');
    const waiting = async (count: number) =>
      vi.waitFor(async () => expect((await watcher.query(WAITING)).rows).toHaveLength(count), { timeout: 10_000 });
    const killed = migrate(database.databaseUrl, { folder: next });
    await waiting(1);
    expect((await watcher.query(END_HOLDER)).rows).toHaveLength(1);
    const following = migrate(database.databaseUrl, { folder: next });
    await waiting(2);
    await reader.query('COMMIT');
    expect(await killed).toEqual([NEXT]);
    expect(await following).toEqual([]);
    expect(await migrate(database.databaseUrl, { folder: next })).toEqual([]);
    await Promise.all([reader.end(), watcher.end()]);
  });
});
