import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashOf } from './secrets.js';
import { admitted, logIn, newContact, openProvisioning } from './provisioning-fixture.suite.js';
import type { ProvisioningFixture } from './provisioning-fixture.suite.js';

const DAY_MS = 86_400_000;
let fixture: ProvisioningFixture;

beforeAll(async () => {
  fixture = await openProvisioning();
});
afterAll(() => fixture.close());

describe('credentials of a device', () => {
  it('let it in over MQTT and over WebSocket, and only as a whole', async () => {
    const { registry } = fixture;
    const contact = newContact();
    const known = await admitted(registry, contact);
    const granted = { kind: 'granted', deviceId: contact.deviceId };
    const refused = { kind: 'refused', deviceId: contact.deviceId };
    expect(await logIn(registry, known)).toEqual(granted);
    expect(await logIn(registry, known, { clientId: `GID_x@@@${contact.deviceId}@@@${randomUUID()}` })).toEqual(refused);
    expect(await logIn(registry, known, { password: `${known.credential.secret ?? ''}x` })).toEqual(refused);
    expect(await logIn(registry, known, { password: '' })).toEqual(refused);
    expect(await logIn(registry, known, { username: 'nobody' })).toEqual({ kind: 'refused', deviceId: undefined });
    const token = known.credential.secret ?? '';
    const { credentials } = registry;
    expect(await credentials.checkWebSocket({ ...contact, token })).toEqual(granted);
    expect(await credentials.checkWebSocket({ ...contact, token: token.slice(1) })).toEqual(refused);
    expect(await credentials.checkWebSocket({ ...contact, clientUuid: randomUUID(), token })).toEqual(refused);
    expect(await credentials.checkWebSocket({ ...contact, deviceId: 'nobody', token })).toEqual({ kind: 'refused', deviceId: undefined });
  });

  it('of another device are refused, whatever is mixed', async () => {
    const { registry } = fixture;
    const [one, other] = [await admitted(registry, newContact()), await admitted(registry, newContact())];
    const mixed = { password: other.credential.secret ?? '' };
    expect((await logIn(registry, one, mixed)).kind).toBe('refused');
    expect((await logIn(registry, other, { username: one.credential.mqttUsername })).kind).toBe('refused');
  });

  it('show neither the UUID nor a number that can be guessed', async () => {
    const contact = newContact();
    const { credential, clientUuidHash } = await admitted(fixture.registry, contact);
    expect(credential.mqttClientId).not.toContain(contact.clientUuid);
    expect(credential.mqttClientId).toContain(contact.deviceId.replaceAll(':', '_'));
    expect(credential.secret).toMatch(/^[\w-]{43}$/);
    expect(clientUuidHash).toBe(hashOf(contact.clientUuid));
  });

  it('are in plain until the device has used them, and then nowhere', async () => {
    const { registry, sql, other } = fixture;
    const contact = newContact();
    const known = await admitted(registry, contact);
    expect((await registry.credentials.findKnown(contact.deviceId))?.credential.secret).toBe(known.credential.secret);
    await logIn(registry, known);
    expect((await registry.credentials.findKnown(contact.deviceId))?.credential).toEqual({ ...known.credential, secret: undefined });
    const stored = `SELECT secret, secret_hash FROM device_credential WHERE device_id = '${contact.deviceId}'`;
    await expect.poll(() => sql(stored)).toEqual([{ secret: null, secret_hash: hashOf(known.credential.secret ?? '') }]);
    await expect.poll(async () => (await other.credentials.findKnown(contact.deviceId))?.credential.secret).toBeUndefined();
    expect((await logIn(registry, known)).kind).toBe('granted');
  });

  it('that were rotated work until the new ones are used', async () => {
    const { registry } = fixture;
    const contact = newContact();
    const first = await admitted(registry, contact);
    await logIn(registry, first);
    const second = { credential: (await registry.credentials.rotate(contact.deviceId, Date.now())) ?? first.credential };
    expect(second.credential.secret).toMatch(/^[\w-]{43}$/);
    expect(second.credential.mqttClientId).not.toBe(first.credential.mqttClientId);
    expect((await logIn(registry, first)).kind).toBe('granted');
    expect((await logIn(registry, second)).kind).toBe('granted');
    expect((await logIn(registry, first)).kind).toBe('refused');
  });

  it('that were rotated end with the grace time', async () => {
    const { registry } = fixture;
    const contact = newContact();
    const known = await admitted(registry, contact);
    await registry.credentials.rotate(contact.deviceId, Date.now() - DAY_MS - 1_000);
    expect((await logIn(registry, known)).kind).toBe('refused');
    expect(await registry.credentials.findKnown(contact.deviceId)).toBeDefined();
  });

  it('stay bounded in number however often they are rotated, and the one in use stays', async () => {
    const { registry, sql } = fixture;
    const contact = newContact();
    const used = await admitted(registry, contact);
    await logIn(registry, used);
    await expect
      .poll(() => sql(`SELECT FROM device_credential WHERE device_id = '${contact.deviceId}' AND used_at IS NOT NULL`))
      .toHaveLength(1);
    for (let times = 0; times < 9; times += 1) await registry.credentials.rotate(contact.deviceId, Date.now());
    expect((await sql(`SELECT FROM device_credential WHERE device_id = '${contact.deviceId}'`)).length).toBeLessThanOrEqual(5);
    expect(await sql(`SELECT FROM device_credential WHERE device_id = '${contact.deviceId}' AND secret IS NOT NULL`)).toHaveLength(1);
    expect((await logIn(registry, used)).kind).toBe('granted');
  });

  it('are issued to a device that was there before credentials were', async () => {
    const { registry } = fixture;
    const { deviceId } = newContact();
    const arrival = { dialect: 'XIAOZHI', transport: 'MQTT', reachability: 'ALWAYS', remoteAddress: undefined } as const;
    await registry.devices.connecting({ deviceId, ...arrival, connectedAt: Date.now() });
    expect(await registry.credentials.findKnown(deviceId)).toBeUndefined();
    const credential = await registry.credentials.rotate(deviceId, Date.now());
    expect(credential && (await logIn(registry, { credential })).kind).toBe('granted');
    expect(await registry.credentials.rotate('nobody', Date.now())).toBeUndefined();
  });
});
