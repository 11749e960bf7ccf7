import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newContact, openProvisioning } from '../provisioning-fixture.suite.js';
import type { ProvisioningFixture } from '../provisioning-fixture.suite.js';
import { BLOCKED_MAX } from './blocked-boards.js';

const HOUR_MS = 3_600_000;
let fixture: ProvisioningFixture;

beforeAll(async () => {
  fixture = await openProvisioning();
});
afterAll(() => fixture.close());

const block = (deviceId: string, change: { readonly until?: number; readonly at?: number } = {}) => ({
  deviceId: deviceId as never,
  blockedBy: 'operator',
  blockedAt: change.at ?? Date.now(),
  blockedUntil: change.until,
});
const approval = (code: string, at = Date.now()) => ({ code, approver: 'operator', confirm: false, at });
const listed = async () =>
  (await fixture.registry.enrolments.page({ first: 1_000 })).rows.map(({ deviceId }) => deviceId);

describe('a blocked board', () => {
  it('waits with a code like others, but is not listed, and its code approves nothing', async () => {
    const { enrolments } = fixture.registry;
    const contact = newContact();
    const before = await enrolments.request(contact);
    expect(before.isBlocked).toBe(false);
    expect(await listed()).toContain(contact.deviceId);
    await enrolments.block(block(contact.deviceId));
    const pending = await enrolments.request(contact);
    expect(pending).toEqual({ ...before, isBlocked: true });
    expect(await listed()).not.toContain(contact.deviceId);
    expect((await enrolments.approve(approval(pending.code))).kind).toBe('BLOCKED');
    expect(await enrolments.unblock(contact.deviceId)).toBe(contact.deviceId);
    expect(await listed()).toContain(contact.deviceId);
    expect((await enrolments.approve(approval(pending.code))).kind).toBe('approved');
  });

  it('is admitted by no link, mode or proof, also in another process', async () => {
    const { registry, other } = fixture;
    const contact = newContact();
    await registry.enrolments.block(block(contact.deviceId));
    const { token, link } = await registry.enrolments.createLink({
      name: 'hall',
      tags: [],
      maxDevices: 5,
      expiresAt: Date.now() + HOUR_MS,
    });
    await registry.enrolments.importFactoryKeys([{ serial: 'S'.repeat(32), key: Buffer.alloc(32, 1) }]);
    for (const { enrolments } of [registry, other]) {
      expect(await enrolments.admitByLink(token, contact)).toBeUndefined();
      expect(await enrolments.admit(contact)).toBeUndefined();
      expect(await enrolments.admit(contact, { serial: 'S'.repeat(32) })).toBeUndefined();
    }
    const [used] = (await registry.enrolments.links()).filter(({ id }) => id === link.id);
    expect(used?.usedCount).toBe(0);
  });

  it('comes back by itself when its block ends', async () => {
    const { enrolments } = fixture.registry;
    const contact = newContact();
    const { code } = await enrolments.request(contact);
    await enrolments.block(block(contact.deviceId, { until: Date.now() + HOUR_MS }));
    expect((await enrolments.approve(approval(code))).kind).toBe('BLOCKED');
    const later = { ...contact, at: Date.now() + HOUR_MS + 1_000 };
    expect((await enrolments.request(later)).isBlocked).toBe(false);
    expect(await enrolments.admit(later)).toBeDefined();
  });

  it('that is enrolled stays enrolled with its Client-Id, and no other board takes its place', async () => {
    const { enrolments, credentials } = fixture.registry;
    const contact = newContact();
    await enrolments.admit(contact);
    await enrolments.block(block(contact.deviceId));
    expect((await credentials.recognise(contact)).kind).toBe('proven');
    const imitator = newContact({ deviceId: contact.deviceId });
    expect((await enrolments.request(imitator)).isBlocked).toBe(true);
  });

  it('can be registered, which ends the block', async () => {
    const { enrolments } = fixture.registry;
    const contact = newContact();
    await enrolments.block(block(contact.deviceId));
    const device = { deviceId: contact.deviceId, name: undefined, tags: [], dialect: 'XIAOZHI', transport: 'MQTT' };
    expect((await enrolments.register([device as never])).kind).toBe('registered');
    expect((await enrolments.request(contact)).isBlocked).toBe(false);
  });
});

describe('the list of blocked boards', () => {
  it('has the latest first, page by page, with the model that the board reported', async () => {
    const { registry, close } = await openProvisioning();
    const contacts = Array.from({ length: 5 }, () => newContact());
    for (const [index, contact] of contacts.entries()) {
      await registry.enrolments.request(contact);
      await registry.enrolments.block(block(contact.deviceId, { at: Date.now() + index }));
    }
    const first = await registry.enrolments.blockedPage({ first: 3 });
    const rest = await registry.enrolments.blockedPage({ first: 3, after: first.cursors.at(-1) ?? '' });
    expect([...first.rows, ...rest.rows].map(({ deviceId }) => deviceId)).toEqual(
      contacts.map(({ deviceId }) => deviceId).reverse(),
    );
    expect(first.rows[0]).toMatchObject({ model: 'lichuang-dev', blockedBy: 'operator', blockedUntil: undefined });
    expect(await registry.enrolments.unblock('02:00:00:00:00:99')).toBeUndefined();
    await close();
  });

  it('is limited; blocks that have ended make room, and a known block can be changed', async () => {
    const { registry, sql, close } = await openProvisioning();
    const kept = newContact().deviceId;
    await registry.enrolments.block(block(kept, { until: Date.now() + HOUR_MS }));
    await sql(`INSERT INTO blocked_board (device_id, blocked_by, blocked_at, blocked_until)
               SELECT 'b' || n, 'x', now(), CASE WHEN n = 1 THEN now() + interval '1 minute' END
               FROM generate_series(1, ${String(BLOCKED_MAX - 1)}) AS n`);
    const further = newContact().deviceId;
    expect(await registry.enrolments.block(block(further))).toBe('full');
    expect(await registry.enrolments.block(block(kept))).toMatchObject({ blockedUntil: undefined });
    expect(await registry.enrolments.block(block(further, { at: Date.now() + 120_000 }))).toMatchObject({
      deviceId: further,
    });
    await close();
  });

  it('makes blocked boards leave a full queue first', async () => {
    const { registry, sql, close } = await openProvisioning();
    const blocked = newContact({ remoteAddress: '198.51.100.1', remoteNetwork: '198.51.100.1' });
    await registry.enrolments.request(blocked);
    await registry.enrolments.block(block(blocked.deviceId));
    await sql(`INSERT INTO enrolment (id, code, challenge, device_id, client_uuid_hash, remote_network, requested_at,
                 last_request_at)
               SELECT gen_random_uuid(), lpad(n::text, 6, '0'), 'c' || n, 'device-' || n, 'h', '192.0.2.9', now(), now()
               FROM generate_series(1, 999) AS n`);
    const newest = newContact();
    await registry.enrolments.request(newest);
    const left = await sql('SELECT device_id FROM enrolment');
    expect(left).toHaveLength(1_000);
    const ids = left.map(({ device_id: id }) => id);
    expect([ids.includes(blocked.deviceId), ids.includes(newest.deviceId)]).toEqual([false, true]);
    await close();
  });
});
