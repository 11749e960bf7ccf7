/** What a restore brings back, and what it refuses. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { verifyAuditTrail } from '../audit/verify-audit.js';
import { migrate } from '../database/migrate.js';
import { openRegistry } from '../open-registry.js';
import type { TestDatabase } from '../test-database.js';
import { execute } from '../test-server.js';
import { auditSecret, dumpOf, openEmptyDatabase, openFilledDatabase, query } from './backup-fixture.suite.js';
import type { Dumped } from './backup-fixture.suite.js';
import { loadDatabase } from './load-database.js';
import type { DatabaseLoad, TablePiece } from './load-database.js';
import { openPlainClient } from './plain-client.js';
import { requireRestorable } from './require-restorable.js';

const hubVersion = '9.8.7';
const createdAt = new Date('2026-11-23T08:00:00.000Z');

async function* streamed(pieces: readonly TablePiece[]): AsyncGenerator<TablePiece> {
  yield* pieces;
}

const loadOf = ({ contents, rows, pieces }: Dumped): DatabaseLoad => ({
  contents,
  rows,
  pieces: streamed(pieces),
  hubVersion,
  createdAt,
  auditSecret,
});

let source: TestDatabase;
let dumped: Dumped;
const targets: TestDatabase[] = [];

const emptyTarget = async () => {
  const target = await openEmptyDatabase();
  targets.push(target);
  return target.databaseUrl;
};

beforeAll(async () => {
  source = await openFilledDatabase();
  dumped = await dumpOf(source.databaseUrl);
});

afterEach(async () => {
  for (const target of targets.splice(0)) await target.close();
});

afterAll(() => source.close());

/** The URL of a server behind another host, which does not answer. */
const behindGoneHost = (databaseUrl: string): string => databaseUrl.replace(/@([^/]+)/, '@127.0.0.1:1,$1');

describe('a server among several hosts', () => {
  it('is dumped and filled, as it is used by the hub', async () => {
    const found = await dumpOf(behindGoneHost(source.databaseUrl));
    expect(found.rows).toEqual(dumped.rows);
    const target = behindGoneHost(await emptyTarget());
    await requireRestorable(target, { contents: found.contents, hubVersion });
    expect(await loadDatabase(target, loadOf(found))).toBe(1);
  });
});

it('loses its connection when its machine is gone, so that its locks do not stay for hours', async () => {
  const client = await openPlainClient(source.databaseUrl);
  const { rows } = await client.query('SHOW tcp_keepalives_idle');
  await client.end();
  expect(rows).toEqual([{ tcp_keepalives_idle: '60' }]);
});

describe('a restored database', () => {
  it('has each row and each value, and computes what triggers and generated columns compute', async () => {
    const target = await emptyTarget();
    await requireRestorable(target, { contents: dumped.contents, hubVersion });
    expect(await loadDatabase(target, loadOf(dumped))).toBe(1);
    const restored = await dumpOf(target);
    expect(restored.contents).toEqual(dumped.contents);
    const sorted = (pieces: readonly TablePiece[], table: string) =>
      Buffer.concat(pieces.filter((piece) => piece.table === table).map(({ data }) => data))
        .toString()
        .split('\n')
        .sort();
    const moved = ['audit_entry', 'job'];
    for (const { name } of dumped.contents.tables.filter((table) => !moved.includes(table.name)))
      expect(sorted(restored.pieces, name), name).toEqual(sorted(dumped.pieces, name));
    expect(restored.rows).toEqual({ ...dumped.rows, audit_entry: (dumped.rows['audit_entry'] ?? 0) + 1 });
    await execute(target, `INSERT INTO device (id, name, dialect, reachability) VALUES ('d9', 'N', 'MCPU', 'ALWAYS')`);
    expect(await query(target, `SELECT text FROM device_search WHERE device_id = 'd9'`)).toEqual([{ text: 'd9\nn' }]);
    expect(await query(target, `SELECT DISTINCT indexed_state FROM job_target`)).toEqual([
      { indexed_state: 'DECIDED' },
    ]);
  });

  it('keeps its running jobs, paused, and records the restore in an audit trail that is intact', async () => {
    const target = await emptyTarget();
    await loadDatabase(target, loadOf(dumped));
    expect(await query(target, `SELECT name, pause_reason FROM job WHERE state <> 'FINISHED'`)).toEqual([
      { name: 'Job 1', pause_reason: 'USER' },
    ]);
    expect(await query(target, `SELECT data FROM audit_entry WHERE action = 'hub.restored'`)).toEqual([
      { data: { backupOf: createdAt.toISOString(), hubVersion, pausedJobs: 1 } },
    ]);
    expect(await verifyAuditTrail(target, auditSecret)).toMatchObject({ kind: 'intact' });
  });

  it('has an audit trail that is intact with another key, which does not check the entries before', async () => {
    const target = await emptyTarget();
    const other = `${auditSecret}, another one`;
    await loadDatabase(target, { ...loadOf(dumped), auditSecret: other });
    await (await openRegistry({ databaseUrl: target, auditSecret: other })).close();
    const unchecked = dumped.rows['audit_entry'] ?? 0;
    expect(await verifyAuditTrail(target, other)).toMatchObject({
      kind: 'intact',
      keyedFrom: unchecked + 1,
      unchecked,
    });
  });

  it('puts the rows of each day into the partition that they had', async () => {
    const target = await emptyTarget();
    await loadDatabase(target, loadOf(dumped));
    const places = 'SELECT tableoid::regclass::text AS place, count(*)::int FROM job_target GROUP BY 1 ORDER BY 1';
    expect(await query(target, places)).toEqual(await query(source.databaseUrl, places));
  });

  it('is opened by a hub', async () => {
    const target = await emptyTarget();
    await loadDatabase(target, loadOf(dumped));
    const registry = await openRegistry({ databaseUrl: target, auditSecret });
    expect(await registry.ping()).toBe(true);
    await registry.close();
  });
});

describe('a restore', () => {
  it('continues sequences after the restored rows', async () => {
    const target = await emptyTarget();
    await loadDatabase(target, loadOf(dumped));
    await execute(target, `INSERT INTO approval_failure (approver, at) VALUES ('KEY:a', now())`);
    expect(await query(target, 'SELECT id::int FROM approval_failure ORDER BY id')).toEqual([
      { id: 1 },
      { id: 2 },
      { id: 3 },
    ]);
  });

  it('accepts a database with migrations and no rows, and rejects one with rows', async () => {
    const target = await emptyTarget();
    await migrate(target);
    await requireRestorable(target, { contents: dumped.contents, hubVersion });
    await execute(target, `INSERT INTO hub_secret (name, secret, created_at) VALUES ('bus', 's', now())`);
    const refusal = { code: 'RESTORE_REFUSED', message: expect.stringContaining('the table hub_secret has rows') };
    await expect(requireRestorable(target, { contents: dumped.contents, hubVersion })).rejects.toMatchObject(refusal);
    await expect(loadDatabase(target, loadOf(dumped))).rejects.toMatchObject(refusal);
    expect(await query(target, 'SELECT 1 FROM device')).toEqual([]);
  });

  it('rejects a backup of a newer version, of an unreleased one, and an older backup in a newer database', async () => {
    const target = await emptyTarget();
    const { contents } = dumped;
    const later = { name: '9999_later', checksum: 'c' };
    const newer = { ...contents, migrations: [...contents.migrations, later] };
    await expect(requireRestorable(target, { contents: newer, hubVersion })).rejects.toMatchObject({
      code: 'RESTORE_REFUSED',
      message: expect.stringContaining('from a newer version of Flotilla (9.8.7). Install that version'),
    });
    const changed = { ...contents, migrations: contents.migrations.map(({ name }) => ({ name, checksum: 'other' })) };
    await expect(requireRestorable(target, { contents: changed, hubVersion })).rejects.toMatchObject({
      message: expect.stringContaining('unreleased version'),
    });
    await migrate(target);
    await expect(
      requireRestorable(target, { contents: { ...contents, migrations: [] }, hubVersion }),
    ).rejects.toMatchObject({ message: expect.stringContaining('A newer version of the hub has already prepared') });
  });

  it('refuses an older backup also if a hub has migrated the database since it was checked', async () => {
    const target = await emptyTarget();
    const older = { ...dumped, contents: { ...dumped.contents, migrations: dumped.contents.migrations.slice(0, -1) } };
    await requireRestorable(target, { contents: older.contents, hubVersion });
    await migrate(target);
    await expect(loadDatabase(target, loadOf(older))).rejects.toMatchObject({
      code: 'RESTORE_REFUSED',
      message: expect.stringContaining('A newer version of the hub has already prepared'),
    });
    expect(await query(target, 'SELECT 1 FROM job')).toEqual([]);
  });

  it('that fails in the middle leaves no rows, and can be repeated', async () => {
    const target = await emptyTarget();
    const pieces = async function* (): AsyncGenerator<TablePiece> {
      yield* streamed(dumped.pieces.slice(0, -1));
      throw new RangeError('the disk is full');
    };
    await expect(loadDatabase(target, { ...loadOf(dumped), pieces: pieces() })).rejects.toThrow('the disk is full');
    expect(await query(target, 'SELECT 1 FROM job UNION ALL SELECT 1 FROM audit_entry')).toEqual([]);
    await requireRestorable(target, { contents: dumped.contents, hubVersion });
    expect(await loadDatabase(target, loadOf(dumped))).toBe(1);
  });

  it('succeeds with a warning where the statistics cannot be made', async () => {
    const target = await emptyTarget();
    // An index whose expression fails only in ANALYZE.
    await execute(
      target,
      `CREATE FUNCTION but_not_analyzed(value int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
       BEGIN
         IF current_query() = 'ANALYZE' THEN RAISE 'out of memory'; END IF;
         RETURN value;
       END $$;
       CREATE SCHEMA other;
       CREATE TABLE other.row AS SELECT 1 AS value;
       CREATE INDEX ON other.row (but_not_analyzed(value))`,
    );
    const warnings: string[] = [];
    expect(await loadDatabase(target, loadOf(dumped), (message) => void warnings.push(message))).toBe(1);
    expect(warnings).toEqual([expect.stringMatching(/out of memory.*psql "\$DATABASE_URL" -c ANALYZE/)]);
    expect((await dumpOf(target)).contents).toEqual(dumped.contents);
  });

  it('succeeds with a warning where only the migrations of this version fail', async () => {
    const target = await emptyTarget();
    const allowConnections = (isAllowed: boolean) =>
      execute(
        source.databaseUrl,
        `ALTER DATABASE ${new URL(target).pathname.slice(1)} ALLOW_CONNECTIONS ${String(isAllowed)}`,
      );
    const pieces = async function* (): AsyncGenerator<TablePiece> {
      yield* streamed(dumped.pieces);
      await allowConnections(false);
    };
    const warnings: string[] = [];
    const load = { ...loadOf(dumped), pieces: pieces() };
    expect(await loadDatabase(target, load, (message) => void warnings.push(message))).toBe(1);
    expect(warnings).toEqual([expect.stringMatching(/^All rows were restored, but .* Do not restore again\./)]);
    await allowConnections(true);
    expect((await dumpOf(target)).contents).toEqual(dumped.contents);
  });

  it('rejects a table with fewer rows than the manifest says', async () => {
    const target = await emptyTarget();
    const pieces = dumped.pieces.filter(({ table }) => table !== 'upload');
    await expect(loadDatabase(target, loadOf({ ...dumped, pieces }))).rejects.toMatchObject({
      code: 'RESTORE_REFUSED',
      message: 'The table upload has 0 of its 20 rows.',
    });
  });
});
