import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AuditEntry } from '../generated/prisma/client.js';
import { openRegistry, verifyAuditTrail } from '../index.js';
import type { NewAuditEntry, Registry } from '../index.js';
import { openTestDatabase } from '../test-database.js';
import type { TestDatabase } from '../test-database.js';
import { hashOfEntry } from './audit-chain.js';
import { toAuditEntry } from './audit-entry.js';

const SECRET = 'the key of the audit chain, outside the database';
const entry: NewAuditEntry = {
  actor: 'an operator',
  action: 'policy.set',
  subject: 'policy:x',
  data: { a: 1 },
  at: Date.now(),
};

describe('the chain of the audit trail with a key', () => {
  let database: TestDatabase;
  let raw: pg.Client;
  const open: Registry[] = [];

  beforeEach(async () => {
    database = await openTestDatabase();
    raw = new pg.Client({ connectionString: database.databaseUrl });
    await raw.connect();
  });
  afterEach(async () => {
    for (const registry of open.splice(0)) await registry.close();
    await raw.end();
    await database.close();
  });

  const openWith = async (auditSecret?: string) => {
    const registry = await openRegistry({ databaseUrl: database.databaseUrl, auditSecret });
    open.push(registry);
    return registry;
  };
  const verdict = (secret?: string) => verifyAuditTrail(database.databaseUrl, secret);
  const record = async (registry: Registry, times: number) => {
    for (let index = 0; index < times; index += 1) await registry.audit.record(entry);
  };
  /** What write access to the database allows without the key: all hashes again. */
  const rewriteWithoutKey = async () => {
    const { rows } = await raw.query<AuditEntry>(
      `SELECT *, sequence::float8 AS sequence, remote_address AS "remoteAddress" FROM audit_entry e
       ORDER BY e.sequence`,
    );
    let hash = '0'.repeat(64);
    for (const row of rows.map(toAuditEntry)) {
      hash = hashOfEntry(hash, row, undefined);
      await raw.query('UPDATE audit_entry SET hash = $2, key_id = NULL WHERE sequence = $1', [row.sequence, hash]);
    }
  };

  it('goes on behind entries without one, and covers them', async () => {
    await record(await openWith(), 3);
    await record(await openWith(SECRET), 2);
    expect(await verdict(SECRET)).toMatchObject({ kind: 'intact', entries: 6, keyedFrom: 4, unchecked: 0 });
    await raw.query(`UPDATE audit_entry SET actor = 'changed' WHERE sequence = 2`);
    expect(await verdict(SECRET)).toEqual({ kind: 'broken', sequence: 2, reason: 'CHANGED' });
  });

  it('begins when a hub opens the trail, and only once', async () => {
    for (let start = 0; start < 3; start += 1) await openWith(SECRET);
    expect(await verdict(SECRET)).toMatchObject({ kind: 'intact', entries: 1, keyedFrom: 1 });
  });

  it('shows that all hashes were computed again without the key', async () => {
    await record(await openWith(SECRET), 4);
    await raw.query(`UPDATE audit_entry SET actor = 'changed' WHERE sequence = 3`);
    await rewriteWithoutKey();
    expect((await verdict()).kind).toBe('intact');
    expect(await verdict(SECRET)).toEqual({ kind: 'broken', sequence: 5, reason: 'UNKEYED' });
  });

  it('shows an entry that was added without the key, also where the hub has gone on behind it', async () => {
    const registry = await openWith(SECRET);
    await record(registry, 1);
    await record(await openWith(), 1);
    await record(registry, 1);
    expect(await verdict(SECRET)).toEqual({ kind: 'broken', sequence: 3, reason: 'UNKEYED' });
  });

  it('shows a process with another key, and a key that was replaced covers what is before it', async () => {
    const registry = await openWith(SECRET);
    await record(registry, 2);
    const other = `${SECRET}, another one`;
    await record(await openWith(other), 1);
    expect(await verdict(other)).toMatchObject({ kind: 'intact', keyedFrom: 4, unchecked: 3 });
    expect(await verdict(SECRET)).toEqual({ kind: 'broken', sequence: 4, reason: 'OTHER_KEY' });
    await raw.query(`UPDATE audit_entry SET hash = repeat('a', 64) WHERE sequence = 3`);
    expect(await verdict(other)).toEqual({ kind: 'broken', sequence: 4, reason: 'CHANGED' });
  });

  it.each([
    ['from its beginning', 0, 2, { sequence: 3, reason: 'OTHER_KEY' }],
    ['of a part without a key', 3, 2, { sequence: 3, reason: 'UNKEYED' }],
    ['of a part without a key, all of it', 3, 3, { sequence: 4, reason: 'OTHER_KEY' }],
  ])('shows changed entries that name another key, %s', async (_which, plain, changed, fault) => {
    if (plain > 0) await record(await openWith(), plain);
    await record(await openWith(SECRET), 4);
    expect((await verdict(SECRET)).kind).toBe('intact');
    await raw.query(`UPDATE audit_entry SET actor = 'changed', key_id = 'another' WHERE sequence <= $1`, [changed]);
    expect(await verdict(SECRET)).toEqual({ kind: 'broken', ...fault });
  });
});
