import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type {} from '../provisioning.js';
import { newContact, openProvisioning } from '../provisioning-fixture.suite.js';
import type { ProvisioningFixture } from '../provisioning-fixture.suite.js';

const MINUTE_MS = 60_000;
let fixture: ProvisioningFixture;

beforeAll(async () => {
  fixture = await openProvisioning();
});
afterAll(() => fixture.close());

const approval = (
  code: string,
  change: { readonly approver?: string; readonly confirm?: boolean; readonly at?: number } = {},
) => ({
  code,
  approver: randomUUID(),
  confirm: false,
  at: Date.now(),
  ...change,
});

describe('the challenge of a board', () => {
  it('is known to every process while the board waits, and only for its Client-Id', async () => {
    const { registry, other } = fixture;
    const contact = newContact();
    expect(await other.enrolments.challengeOf(contact)).toBeUndefined();
    const { challenge, code } = await registry.enrolments.request(contact);
    expect(await other.enrolments.challengeOf(contact)).toBe(challenge);
    expect(await other.enrolments.challengeOf({ ...contact, clientUuid: randomUUID() })).toBeUndefined();
    expect(await other.enrolments.challengeOf({ ...contact, at: contact.at + 16 * MINUTE_MS })).toBeUndefined();
    expect((await registry.enrolments.approve(approval(code))).kind).toBe('approved');
    expect(await other.enrolments.challengeOf(contact)).toBeUndefined();
  });
});

describe('codes', () => {
  it('cannot be guessed: ten wrong ones in ten minutes, also when they come together', async () => {
    const { registry, other } = fixture;
    const approver = randomUUID();
    const { code } = await registry.enrolments.request(newContact());
    const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, '0');
    const tried = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        (index % 2 ? registry : other).enrolments.approve(approval(wrong, { approver })),
      ),
    );
    expect(tried.filter(({ kind }) => kind === 'NOT_FOUND')).toHaveLength(10);
    expect((await registry.enrolments.approve(approval(code, { approver }))).kind).toBe('ATTEMPTS_EXCEEDED');
    expect((await registry.enrolments.approve(approval(code))).kind).toBe('approved');
    const later = approval(wrong, { approver, at: Date.now() + 11 * MINUTE_MS });
    expect((await registry.enrolments.approve(later)).kind).toBe('NOT_FOUND');
  });

  it('cannot be guessed by many together', async () => {
    const { registry, close } = await openProvisioning();
    const { code } = await registry.enrolments.request(newContact());
    const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, '0');
    const tried = await Promise.all(Array.from({ length: 120 }, () => registry.enrolments.approve(approval(wrong))));
    expect(tried.filter(({ kind }) => kind === 'NOT_FOUND')).toHaveLength(100);
    await close();
  });

  it('differ between waiting devices, at most a thousand; the oldest request is removed first', async () => {
    const { registry, sql, close } = await openProvisioning();
    const at = Date.now();
    await sql(`INSERT INTO enrolment (id, code, challenge, device_id, client_uuid_hash, requested_at, last_request_at)
               SELECT gen_random_uuid(), lpad(n::text, 6, '0'), 'c' || n, 'device-' || n, 'h',
                 now() - interval '1 minute' + n * interval '1 millisecond',
                 now() - interval '1 minute' + n * interval '1 millisecond' FROM generate_series(1, 1000) AS n`);
    await Promise.all(Array.from({ length: 5 }, () => registry.enrolments.request(newContact({ at }))));
    const rows = await sql('SELECT device_id, code FROM enrolment');
    expect(rows).toHaveLength(1_000);
    expect(new Set(rows.map(({ code }) => code)).size).toBe(1_000);
    const left = new Set(rows.map(({ device_id: id }) => id));
    expect([1, 5, 6].map((n) => left.has(`device-${n}`))).toEqual([false, false, true]);
    await close();
  });

  it('are not lost to a flood from another network, of which all addresses of one /64 are', async () => {
    const { registry, sql, close } = await openProvisioning();
    const at = Date.now();
    const victim = newContact({ at: at - 120_000, remoteAddress: '192.0.2.7', remoteNetwork: '192.0.2.7' });
    const { code } = await registry.enrolments.request(victim);
    await sql(`INSERT INTO enrolment (id, code, challenge, device_id, client_uuid_hash, remote_address, remote_network,
                  requested_at, last_request_at)
               SELECT gen_random_uuid(), lpad(n::text, 6, '0'), 'c' || n, 'device-' || n, 'h',
                 '2001:db8::' || n, '2001:db8:0:0',
                 now() - interval '1 minute' + n * interval '1 millisecond',
                 now() - interval '1 minute' + n * interval '1 millisecond'
               FROM generate_series(1, 999) AS n WHERE lpad(n::text, 6, '0') <> '${code}'`);
    const flood = (n: number) =>
      newContact({ at, remoteAddress: `2001:db8::f${String(n)}`, remoteNetwork: '2001:db8:0:0' });
    await Promise.all(Array.from({ length: 50 }, (_, n) => registry.enrolments.request(flood(n))));
    expect((await registry.enrolments.request({ ...victim, at })).code).toBe(code);
    const left = await sql('SELECT device_id FROM enrolment');
    expect(left).toHaveLength(1_000);
    expect(left.map(({ device_id: id }) => id)).not.toContain('device-1');
    await close();
  });
});
