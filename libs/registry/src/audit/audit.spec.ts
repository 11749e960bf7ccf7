import type { DeviceId } from '@flotilla/mcp';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRegistry, verifyAuditTrail } from '../index.js';
import type { NewAuditEntry, Registry } from '../index.js';
import { openRegistryFixture, type RegistryFixture } from '../registry-fixture.suite.js';

let fixture: RegistryFixture;
let registry: Registry;
let raw: pg.Client;

beforeAll(async () => {
  fixture = await openRegistryFixture();
  ({ registry, raw } = fixture);
});
afterAll(() => fixture.close());

const AT = Date.now();
const entry = (change: Partial<NewAuditEntry> = {}): NewAuditEntry => ({
  actor: 'an operator',
  action: 'policy.set',
  subject: 'policy:self.x',
  data: {},
  at: AT,
  ...change,
});
const latest = async (first = 1) => (await registry.audit.page({}, { first })).rows;

describe('the audit trail', () => {
  it('numbers entries of many writers without a gap, and its chain holds', async () => {
    const other = await openRegistry({ databaseUrl: fixture.databaseUrl });
    await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        (index % 2 ? registry : other).audit.record(entry({ data: { index, b: 1, a: [1.5, null] } })),
      ),
    );
    await other.close();
    const { rows } = await raw.query<{ sequence: string }>('SELECT sequence FROM audit_entry ORDER BY sequence');
    expect(rows.map(({ sequence }) => Number(sequence))).toEqual(rows.map((_, index) => index + 1));
    expect(await registry.audit.verify()).toMatchObject({
      kind: 'intact',
      entries: rows.length,
      first: 1,
      last: rows.length,
    });
  });

  it('keeps texts that PostgreSQL cannot, as it can, and the chain holds', async () => {
    await registry.audit.record(
      entry({ actor: 'a\0b', data: { text: 'c\0\ud800', [`n\0`]: -0, many: 1e21, nothing: undefined } }),
    );
    expect((await latest())[0]).toMatchObject({ actor: 'a\uFFFDb', data: { text: 'c\uFFFD\uFFFD', many: 1e21 } });
    expect((await registry.audit.verify()).kind).toBe('intact');
  });

  it('masks secrets in arguments and replaces long values by their hash', async () => {
    const data = {
      arguments: {
        ssid: 'net',
        password: 'hunter2',
        wifi: { api_key: 'k' },
        url: 'https://u:p@host/file.bin?sig=abc#x',
        volume: 3,
      },
      list: 'x'.repeat(20_000),
    };
    await registry.audit.record(entry({ data }));
    const [kept] = await latest();
    expect(kept?.data).toEqual({
      arguments: {
        ssid: 'net',
        password: '***',
        wifi: { api_key: '***' },
        url: 'https://host/file.bin?***',
        volume: 3,
      },
      list: { bytes: 20_002, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
  });

  it.each([
    ['https://user:p@ss@host/x', 'https://host/x'],
    ['https://user:p@s@s@host:8443', 'https://host:8443'],
    ['https://user:p/ss@host/x?y', 'https://host/x?***'],
    ['mqtt://user:p?a#b@c@host/x', 'mqtt://host/x'],
    ['https://host:8443/@someone/x', 'https://host:8443/@someone/x'],
    ['https://host/@someone', 'https://host/@someone'],
    ['http://[2001:db8::1]:80/x@y', 'http://[2001:db8::1]:80/x@y'],
    ['write to ada@example.net', 'write to ada@example.net'],
  ])('keeps of the address %s only %s', async (url, kept) => {
    await registry.audit.record(entry({ data: { url } }));
    expect((await latest())[0]?.data).toEqual({ url: kept });
  });

  it('is found by who, what, on which and when, page by page, latest first', async () => {
    for (const subject of ['device:1', 'device:2', 'device:1'])
      await registry.audit.record(
        entry({ actor: 'finder', action: 'device.removed', subject, remoteAddress: '10.0.0.1' }),
      );
    const first = await registry.audit.page({ actor: 'finder' }, { first: 2 });
    expect(first.rows.map(({ subject }) => subject)).toEqual(['device:1', 'device:2']);
    const rest = await registry.audit.page({ actor: 'finder' }, { first: 2, after: first.cursors.at(-1) ?? '' });
    expect(rest).toMatchObject({ rows: [{ subject: 'device:1', remoteAddress: '10.0.0.1' }], hasNextPage: false });
    expect((await registry.audit.page({ actor: 'finder', subject: 'device:2' }, { first: 9 })).rows).toHaveLength(1);
    expect((await registry.audit.page({ action: 'device.removed', since: AT + 1 }, { first: 9 })).rows).toHaveLength(0);
    expect((await registry.audit.page({ action: 'device.removed', until: AT + 1 }, { first: 9 })).rows).toHaveLength(3);
  });

  it('takes what an act of the registry did, or nothing where it did nothing', async () => {
    const by = { actor: 'admin', remoteAddress: '::1' };
    const device = {
      deviceId: 'audited' as DeviceId,
      name: undefined,
      tags: ['t'],
      dialect: 'XIAOZHI',
      transport: 'MQTT',
    } as const;
    await registry.enrolments.register([device], by);
    await registry.devices.update('audited', { name: 'Lamp' }, by);
    await registry.devices.tag({ ids: ['audited'] }, { add: ['u'], remove: [], tagsMax: 9 }, by);
    await registry.credentials.rotate('audited', Date.now(), by);
    await registry.enrolments.remove('audited', by);
    await registry.enrolments.remove('audited', by);
    await registry.devices.update('no-device', { name: 'x' }, by);
    const { rows } = await registry.audit.page({ actor: 'admin' }, { first: 20 });
    expect(rows.map(({ action }) => action)).toEqual([
      'device.removed',
      'credential.rotated',
      'devices.tagged',
      'device.updated',
      'device.registered',
    ]);
    expect(JSON.stringify(rows)).not.toMatch(/secret/);
  });

  it('accepts that the hub removed its beginning, and no other removal', async () => {
    const before = (await registry.audit.verify()) as { readonly last: number };
    const kept = { recordsMs: 1e12, jobsMs: 1e12, auditMs: 0, measurementsMs: 1e12, rollupsMs: 1e12 };
    expect(await registry.removeOld(kept, AT)).toEqual({});
    const tomorrow = AT + 86_400_000;
    expect(await registry.removeOld(kept, tomorrow)).toEqual({ auditEntries: before.last });
    expect(await registry.audit.verify()).toMatchObject({ kind: 'intact', first: before.last + 1, entries: 1 });
    expect(await latest()).toMatchObject([
      { action: 'audit.trimmed', actor: 'hub', data: { sequence: before.last, entries: before.last } },
    ]);
    for (let index = 0; index < 9; index += 1) await registry.audit.record(entry({ data: { index } }));
    expect(await verifyAuditTrail(fixture.databaseUrl)).toMatchObject({
      kind: 'intact',
      entries: 10,
      first: before.last + 1,
    });
    const { rows } = await raw.query<{ sequence: string; hash: string }>('SELECT * FROM audit_anchor');
    const { rows: cut } = await raw.query<{ hash: string }>(
      'DELETE FROM audit_entry WHERE sequence = $1 RETURNING hash',
      [before.last + 1],
    );
    expect((await registry.audit.verify()).kind).toBe('broken');
    await raw.query('UPDATE audit_anchor SET sequence = $1, hash = $2', [before.last + 1, cut[0]?.hash]);
    expect(await registry.audit.verify()).toMatchObject({ kind: 'broken', reason: 'MISSING' });
    await raw.query('DELETE FROM audit_entry');
    await raw.query('DELETE FROM audit_anchor');
    expect(rows).toHaveLength(1);
    for (let index = 0; index < 9; index += 1) await registry.audit.record(entry({ data: { index } }));
  });

  it('shows where an entry was changed or removed', async () => {
    const { entries } = (await registry.audit.verify()) as { readonly entries: number };
    const middle = Math.floor(entries / 2);
    await raw.query(`UPDATE audit_entry SET actor = 'changed' WHERE sequence = $1`, [middle]);
    expect(await registry.audit.verify()).toEqual({ kind: 'broken', sequence: middle, reason: 'CHANGED' });
    await raw.query('DELETE FROM audit_entry WHERE sequence = $1', [middle]);
    expect(await registry.audit.verify()).toEqual({ kind: 'broken', sequence: middle + 1, reason: 'MISSING' });
  });
});
