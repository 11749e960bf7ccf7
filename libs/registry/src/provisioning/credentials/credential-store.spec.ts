import { randomUUID } from 'node:crypto';
import type { DeviceId } from '@flotilla/mcp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NewDevice } from '../provisioning.js';
import { hashOf } from '../../secrets/secrets.js';
import { admitted, logIn, newContact, openProvisioning } from '../provisioning-fixture.suite.js';
import type { ProvisioningFixture } from '../provisioning-fixture.suite.js';
import { watchStatements } from '../../test-database.js';

const DAY_MS = 86_400_000;
let fixture: ProvisioningFixture;

beforeAll(async () => {
  fixture = await openProvisioning();
});
afterAll(() => fixture.close());

describe('credentials of a device', () => {
  it('admit it over MQTT and over WebSocket, and only as a whole', async () => {
    const { registry } = fixture;
    const contact = newContact();
    const known = await admitted(registry, contact);
    const granted = { kind: 'granted', deviceId: contact.deviceId };
    const refused = { kind: 'refused', deviceId: contact.deviceId };
    expect(await logIn(registry, known)).toEqual(granted);
    expect(await logIn(registry, known, { clientId: `GID_x@@@${contact.deviceId}@@@${randomUUID()}` })).toEqual(
      refused,
    );
    expect(await logIn(registry, known, { password: `${known.credential.secret ?? ''}x` })).toEqual(refused);
    expect(await logIn(registry, known, { password: '' })).toEqual(refused);
    expect(await logIn(registry, known, { username: 'no-device' })).toEqual({ kind: 'refused', deviceId: undefined });
    const token = known.credential.secret ?? '';
    const { credentials } = registry;
    expect(await credentials.checkWebSocket({ ...contact, token })).toEqual(granted);
    expect(await credentials.checkWebSocket({ ...contact, token: token.slice(1) })).toEqual(refused);
    expect(await credentials.checkWebSocket({ ...contact, clientUuid: randomUUID(), token })).toEqual(refused);
    expect(await credentials.checkWebSocket({ ...contact, deviceId: 'no-device', token })).toEqual({
      kind: 'refused',
      deviceId: undefined,
    });
  });

  it('of another device are refused in any combination', async () => {
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
    expect((await registry.credentials.findKnown(contact.deviceId))?.credential).toEqual({
      ...known.credential,
      secret: undefined,
    });
    const stored = `SELECT secret, secret_hash FROM device_credential WHERE device_id = '${contact.deviceId}'`;
    await expect
      .poll(() => sql(stored))
      .toEqual([{ secret: null, secret_hash: hashOf(known.credential.secret ?? '') }]);
    await expect
      .poll(async () => (await other.credentials.findKnown(contact.deviceId))?.credential.secret)
      .toBeUndefined();
    expect((await logIn(registry, known)).kind).toBe('granted');
  });

  it('that were rotated work until the new ones are used', async () => {
    const { registry } = fixture;
    const contact = newContact();
    const first = await admitted(registry, contact);
    await logIn(registry, first);
    const second = {
      credential: (await registry.credentials.rotate(contact.deviceId, Date.now())) ?? first.credential,
    };
    expect(second.credential.secret).toMatch(/^[\w-]{43}$/);
    expect(second.credential.mqttClientId).not.toBe(first.credential.mqttClientId);
    expect((await logIn(registry, first)).kind).toBe('granted');
    expect((await logIn(registry, second)).kind).toBe('granted');
    expect((await logIn(registry, first)).kind).toBe('refused');
  });

  it('that were used are rotated with the transport, in as many statements for many as for one', async () => {
    const { registry } = fixture;
    const contacts = Array.from({ length: 30 }, () => newContact());
    const known = await Promise.all(contacts.map((contact) => admitted(registry, contact)));
    for (const device of known) await logIn(registry, device);
    const ids = contacts.map(({ deviceId }) => deviceId);
    const watch = watchStatements();
    const changed = await registry.credentials.setTransports(ids, 'WEBSOCKET');
    expect(watch.stop()).toBeLessThan(ids.length);
    expect([...changed].sort()).toEqual([...ids].sort());
    for (const [index, contact] of contacts.entries()) {
      const token = (await registry.credentials.findKnown(contact.deviceId))?.credential.secret ?? '';
      expect(token).not.toBe(known[index]?.credential.secret);
      expect(await registry.credentials.checkWebSocket({ ...contact, token })).toMatchObject({ kind: 'granted' });
    }
  });

  it('that were rotated end with the grace time', async () => {
    const { registry } = fixture;
    const contact = newContact();
    const known = await admitted(registry, contact);
    await registry.credentials.rotate(contact.deviceId, Date.now() - DAY_MS - 1_000);
    expect((await logIn(registry, known)).kind).toBe('refused');
    expect(await registry.credentials.findKnown(contact.deviceId)).toBeDefined();
  });

  it('that were rotated twice end with the first grace time', async () => {
    const { registry } = fixture;
    const contact = newContact();
    const known = await admitted(registry, contact);
    await registry.credentials.rotate(contact.deviceId, Date.now() - DAY_MS - 1_000);
    // At a time at which the former credential is still valid, and is not removed.
    await registry.credentials.rotate(contact.deviceId, Date.now() - 60_000);
    expect((await logIn(registry, known)).kind).toBe('refused');
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
    expect(
      (await sql(`SELECT FROM device_credential WHERE device_id = '${contact.deviceId}'`)).length,
    ).toBeLessThanOrEqual(5);
    expect(
      await sql(`SELECT FROM device_credential WHERE device_id = '${contact.deviceId}' AND secret IS NOT NULL`),
    ).toHaveLength(1);
    expect((await logIn(registry, used)).kind).toBe('granted');
  });

  it('that the device stored for one transport are replaced together with the change to another one', async () => {
    const { registry, other, sql } = fixture;
    const contact = newContact();
    const known = await admitted(registry, contact);
    expect((await logIn(registry, known)).kind).toBe('granted');
    await expect
      .poll(() => sql(`SELECT FROM device_credential WHERE device_id = '${contact.deviceId}' AND used_at IS NOT NULL`))
      .toHaveLength(1);
    // A process that does not know of the use yet.
    expect(await other.credentials.setTransport(contact.deviceId, 'WEBSOCKET')).toBe(true);
    const changed = await other.credentials.findKnown(contact.deviceId);
    expect(changed).toMatchObject({ transport: 'WEBSOCKET', credential: { secret: expect.any(String) } });
    expect(changed?.credential.secret).not.toBe(known.credential.secret);
    // The same transport once more changes nothing.
    expect(await other.credentials.setTransport(contact.deviceId, 'WEBSOCKET')).toBe(true);
    expect((await other.credentials.findKnown(contact.deviceId))?.credential).toEqual(changed?.credential);
    expect(await other.credentials.setTransport('no-device', 'WEBSOCKET')).toBe(false);
  });

  it('are issued to a device that was there before credentials were', async () => {
    const { registry } = fixture;
    const { deviceId } = newContact();
    const arrival = {
      dialect: 'XIAOZHI',
      transport: 'MQTT',
      reachability: 'ALWAYS',
      remoteAddress: undefined,
    } as const;
    await registry.devices.connect({ deviceId, ...arrival, connectedAt: Date.now() });
    expect(await registry.credentials.findKnown(deviceId)).toBeUndefined();
    const credential = await registry.credentials.rotate(deviceId, Date.now());
    expect(credential && (await logIn(registry, { credential })).kind).toBe('granted');
    expect(await registry.credentials.rotate('no-device', Date.now())).toBeUndefined();
  });
});

describe('tokens of microcontrollers', () => {
  const register = async (deviceId: string, more: Partial<NewDevice> = {}) => {
    const board = {
      deviceId: deviceId as DeviceId,
      name: undefined,
      tags: [],
      dialect: 'MCPU',
      transport: 'WEBSOCKET',
      ...more,
    } as const;
    const answer = await fixture.registry.enrolments.register([board]);
    if (answer.kind !== 'registered') throw new TypeError(`${deviceId} was not registered.`);
    return answer.devices[0]?.known?.credential.secret ?? '';
  };
  const check = (deviceId: string, token: string, { credentials } = fixture.registry) =>
    credentials.checkToken({ deviceId, token });

  it('admit the board that they were issued to, and no other', async () => {
    const [token, other] = [await register('bed-1'), await register('bed-2')];
    expect(await check('bed-1', token)).toEqual({ kind: 'granted', deviceId: 'bed-1' });
    expect(await check('bed-1', token, fixture.other)).toEqual({ kind: 'granted', deviceId: 'bed-1' });
    for (const wrong of [other, `${token}x`, token.slice(1), token.toUpperCase(), '', hashOf(token)])
      expect(await check('bed-1', wrong)).toEqual({ kind: 'refused', deviceId: 'bed-1' });
    expect(await check('no-device', token)).toEqual({ kind: 'refused', deviceId: undefined });
    expect(await check('bed\0-1', token)).toEqual({ kind: 'refused', deviceId: undefined });
  });

  it('are no way in for devices of the other family, nor the other way round', async () => {
    const { registry } = fixture;
    const contact = newContact();
    const { credential } = await admitted(registry, contact);
    expect((await check(contact.deviceId, credential.secret ?? '')).kind).toBe('refused');
    const token = await register('bed-3');
    expect(
      (await registry.credentials.checkWebSocket({ deviceId: 'bed-3', clientUuid: randomUUID(), token })).kind,
    ).toBe('refused');
  });

  it('end when the next is used, or with their grace time, or with the board', async () => {
    const { credentials, enrolments } = fixture.registry;
    const first = await register('bed-4');
    const second = (await credentials.rotate('bed-4', Date.now()))?.secret ?? '';
    expect((await check('bed-4', first)).kind).toBe('granted');
    expect((await check('bed-4', second)).kind).toBe('granted');
    expect((await check('bed-4', first)).kind).toBe('refused');
    await credentials.rotate('bed-4', Date.now() - DAY_MS - 1_000);
    expect((await check('bed-4', second)).kind).toBe('refused');
    const last = (await credentials.rotate('bed-4', Date.now()))?.secret ?? '';
    await enrolments.remove('bed-4');
    expect((await check('bed-4', last)).kind).toBe('refused');
  });

  it('are not issued to a board that the hub dials: its address is who it is', async () => {
    const { credentials } = fixture.registry;
    await register('dialled', { transport: 'TCP', address: '192.0.2.41:3000' });
    expect(await credentials.rotate('dialled', Date.now())).toBeUndefined();
    expect(await credentials.setTransport('dialled', 'WEBSOCKET')).toBe(false);
    expect([await credentials.isDialled('dialled'), await credentials.isDialled('bed-1')]).toEqual([true, false]);
    expect(await fixture.sql(`SELECT FROM device_credential WHERE device_id = 'dialled'`)).toEqual([]);
    expect((await check('dialled', '')).kind).toBe('refused');
  });
});
