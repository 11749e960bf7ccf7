import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { logIn, newContact, openProvisioning } from '../provisioning-fixture.suite.js';
import type { ProvisioningFixture } from '../provisioning-fixture.suite.js';
import { LINKS_MAX } from './enrolment-links.js';

const DAY_MS = 86_400_000;
let fixture: ProvisioningFixture;

beforeAll(async () => {
  fixture = await openProvisioning();
});
afterAll(() => fixture.close());

describe('a link', () => {
  it('admits as many as it says, however many come at once through however many processes', async () => {
    const { registry, other } = fixture;
    const { link, token } = await registry.enrolments.createLink({
      name: 'ten',
      tags: ['b', 'a', 'a'],
      maxDevices: 10,
      expiresAt: Date.now() + DAY_MS,
    });
    const contacts = Array.from({ length: 50 }, () => newContact());
    const known = await Promise.all(
      contacts.map((contact, index) => (index % 2 ? registry : other).enrolments.admitByLink(token, contact)),
    );
    const inside = known.flatMap((device) => device ?? []);
    expect(inside).toHaveLength(10);
    expect(new Set(inside.map(({ credential }) => credential.secret)).size).toBe(10);
    expect((await registry.enrolments.links()).find(({ id }) => id === link.id)).toMatchObject({
      usedCount: 10,
      tags: ['a', 'b'],
    });
    expect((await registry.devices.find(inside[0]?.deviceId ?? ''))?.tags).toEqual(['a', 'b']);
    const verdicts = await Promise.all(inside.map(async (device) => (await logIn(registry, device)).kind));
    expect(new Set(verdicts)).toEqual(new Set(['granted']));
  });

  it('counts a device once, although it asks many times at once and again', async () => {
    const { registry } = fixture;
    const { link, token } = await registry.enrolments.createLink({
      name: 'n',
      tags: [],
      maxDevices: 3,
      expiresAt: Date.now() + DAY_MS,
    });
    const contact = newContact();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => registry.enrolments.admitByLink(token, contact)),
    );
    expect(new Set(answers.map((known) => known?.credential.mqttClientId)).size).toBe(1);
    expect((await registry.enrolments.links()).find(({ id }) => id === link.id)?.usedCount).toBe(1);
  });

  it('admits no device once expired, revoked or invented, and no removed device', async () => {
    const { registry } = fixture;
    const request = { name: 'n', tags: [], maxDevices: 5, expiresAt: Date.now() + DAY_MS };
    const expired = await registry.enrolments.createLink({ ...request, expiresAt: Date.now() - 1 });
    const revoked = await registry.enrolments.createLink(request);
    await registry.enrolments.revokeLink(revoked.link.id, Date.now());
    for (const token of [expired.token, revoked.token, '', 'x'.repeat(43)])
      expect(await registry.enrolments.admitByLink(token, newContact())).toBeUndefined();
    const { token } = await registry.enrolments.createLink(request);
    const contact = newContact();
    await registry.enrolments.admitByLink(token, contact);
    await registry.enrolments.remove(contact.deviceId);
    expect(await registry.enrolments.admitByLink(token, contact)).toBeUndefined();
    expect(await registry.enrolments.admit(contact)).toBeUndefined();
  });

  it('keeps only the hash of its token', async () => {
    const { registry, sql } = fixture;
    const { token } = await registry.enrolments.createLink({
      name: 'n',
      tags: [],
      maxDevices: 1,
      expiresAt: Date.now() + DAY_MS,
    });
    expect(JSON.stringify(await sql('SELECT * FROM enrolment_link'))).not.toContain(token);
  });

  it('goes from the list where there is no room for another, but not while it admits', async () => {
    const { registry, sql, close } = await openProvisioning();
    await sql(`INSERT INTO enrolment_link (id, name, tags, max_devices, token_hash, expires_at, revoked_at)
               SELECT gen_random_uuid(), CASE n WHEN 1 THEN 'expired' WHEN 2 THEN 'revoked' ELSE 'valid' END, '{}', 1,
                 'h' || n, now() + CASE n WHEN 1 THEN -interval '1 hour' ELSE interval '1 day' END,
                 CASE n WHEN 2 THEN now() - interval '1 minute' END FROM generate_series(1, ${LINKS_MAX}) AS n`);
    const request = { name: 'new', tags: [], maxDevices: 5, expiresAt: Date.now() + DAY_MS };
    const countsAfterOneMore = async () => {
      await registry.enrolments.createLink(request);
      const names = (await registry.enrolments.links()).map(({ name }) => name);
      return ['expired', 'revoked', 'valid', 'new'].map((name) => names.filter((one) => one === name).length);
    };
    expect(await countsAfterOneMore()).toEqual([0, 1, LINKS_MAX - 2, 1]);
    expect(await countsAfterOneMore()).toEqual([0, 0, LINKS_MAX - 2, 2]);
    await close();
  });
});
