import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NewDevice, OtaContact } from '../provisioning.js';
import { admitted, logIn, newContact, openProvisioning } from '../provisioning-fixture.suite.js';
import type { ProvisioningFixture } from '../provisioning-fixture.suite.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
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
const connecting = (contact: OtaContact) =>
  ({
    deviceId: contact.deviceId,
    dialect: 'XIAOZHI',
    transport: 'MQTT',
    reachability: 'ALWAYS',
    remoteAddress: undefined,
    connectedAt: Date.now(),
  }) as const;
const newDevice = (change: Partial<NewDevice> = {}): NewDevice => ({
  deviceId: newContact().deviceId,
  name: undefined,
  tags: [],
  dialect: 'XIAOZHI',
  transport: 'MQTT',
  ...change,
});

describe('a device that asks to enrol', () => {
  it('shows the same code however often and wherever it asks, until it is approved', async () => {
    const { registry, other } = fixture;
    const contact = newContact();
    const pending = await registry.enrolments.request(contact);
    expect(pending.code).toMatch(/^[0-9]{6}$/);
    expect(pending.challenge).toMatch(/^[\w-]{43}$/);
    expect(await other.enrolments.request({ ...contact, at: contact.at + 1_000 })).toEqual(pending);
    expect(await registry.credentials.findKnown(contact.deviceId)).toBeUndefined();
    expect(await registry.enrolments.approve(approval(pending.code))).toMatchObject({
      kind: 'approved',
      hasReplaced: false,
      device: { id: contact.deviceId, presence: 'OFFLINE', model: 'lichuang-dev' },
    });
    const known = await registry.credentials.findKnown(contact.deviceId);
    expect(known && (await logIn(registry, known)).kind).toBe('granted');
    expect((await registry.enrolments.approve(approval(pending.code))).kind).toBe('NOT_FOUND');
  });

  it('waits once, although it asks many times at the same moment', async () => {
    const { registry, other, sql } = fixture;
    const contact = newContact();
    const asked = await Promise.all(
      Array.from({ length: 20 }, (_, index) => (index % 2 ? registry : other).enrolments.request(contact)),
    );
    expect(new Set(asked.map(({ code }) => code)).size).toBe(1);
    expect(await sql(`SELECT FROM enrolment WHERE device_id = '${contact.deviceId}'`)).toHaveLength(1);
  });

  it('leaves no trace of its UUID', async () => {
    const { registry, sql } = fixture;
    const contact = newContact();
    await registry.enrolments.request(contact);
    expect(JSON.stringify(await sql(`SELECT * FROM enrolment WHERE device_id = '${contact.deviceId}'`))).not.toContain(
      contact.clientUuid,
    );
  });

  it('is forgotten a quarter of an hour after its last request', async () => {
    const { registry } = fixture;
    const contact = newContact({ at: Date.now() - 16 * MINUTE_MS });
    const { code } = await registry.enrolments.request(contact);
    expect((await registry.enrolments.page({ first: 200 })).rows.map(({ deviceId }) => deviceId)).not.toContain(
      contact.deviceId,
    );
    expect((await registry.enrolments.approve(approval(code))).kind).toBe('NOT_FOUND');
    expect((await registry.enrolments.request({ ...contact, at: Date.now() })).code).not.toBe(code);
  });

  it('is rejected once, and may ask again with another code', async () => {
    const { registry } = fixture;
    const contact = newContact();
    const { code } = await registry.enrolments.request(contact);
    const row = (await registry.enrolments.page({ first: 200 })).rows.find(
      ({ deviceId }) => deviceId === contact.deviceId,
    );
    expect(await registry.enrolments.reject(row?.id ?? '')).toBe(contact.deviceId);
    expect(await registry.enrolments.reject(row?.id ?? '')).toBeUndefined();
    expect(await registry.enrolments.reject('no uuid')).toBeUndefined();
    expect((await registry.enrolments.request(contact)).challenge).toBeDefined();
    expect((await registry.enrolments.approve(approval(code))).kind).toBe('NOT_FOUND');
  });
});

describe('a known device that comes with another Client-Id', () => {
  it('keeps its credentials until the other is approved, and has none of them afterwards', async () => {
    const { registry, other } = fixture;
    const contact = newContact();
    const former = await admitted(registry, contact);
    const secret = former.credential.secret ?? '';
    const forged = { ...contact, clientUuid: randomUUID() };
    const { code } = await registry.enrolments.request(forged);
    const rows = (await registry.enrolments.page({ first: 200 })).rows.filter(
      ({ deviceId }) => deviceId === contact.deviceId,
    );
    expect(rows).toMatchObject([{ code, replaces: true }]);
    expect(JSON.stringify(rows)).not.toContain(secret);
    expect((await logIn(registry, former)).kind).toBe('granted');
    expect((await logIn(other, former)).kind).toBe('granted');
    expect(await registry.enrolments.approve(approval(code))).toMatchObject({ kind: 'approved', hasReplaced: true });
    expect((await logIn(registry, former)).kind).toBe('refused');
    await expect.poll(async () => (await logIn(other, former)).kind, { timeout: 5_000 }).toBe('refused');
    expect((await registry.credentials.checkWebSocket({ ...contact, token: secret })).kind).toBe('refused');
    const known = await registry.credentials.findKnown(contact.deviceId);
    expect(known?.credential.secret).not.toBe(secret);
    expect((await registry.credentials.checkWebSocket({ ...forged, token: known?.credential.secret ?? '' })).kind).toBe(
      'granted',
    );
  });

  it('is approved only with confirmation while it is online', async () => {
    const { registry } = fixture;
    const lease = await registry.takeLease();
    const contact = newContact();
    await admitted(registry, contact);
    const { epoch } = await registry.devices.connect(connecting(contact));
    const ready = {
      model: undefined,
      firmwareVersion: undefined,
      toolSetHash: undefined,
      toolsComplete: false,
      at: Date.now(),
    };
    await registry.devices.ready({ deviceId: contact.deviceId, epoch, gatewayId: lease.id, ...ready });
    const { code } = await registry.enrolments.request({ ...contact, clientUuid: randomUUID() });
    expect((await registry.enrolments.approve(approval(code))).kind).toBe('DEVICE_ONLINE');
    expect((await registry.enrolments.approve(approval(code, { confirm: true }))).kind).toBe('approved');
    await lease.release();
  });

  it('gets nothing by a link, by mode open, or by a serial of another device', async () => {
    const { registry } = fixture;
    const contact = newContact();
    const { credential } = await admitted(registry, contact);
    const forged = { ...contact, clientUuid: randomUUID() };
    const { token } = await registry.enrolments.createLink({
      name: 'n',
      tags: [],
      maxDevices: 5,
      expiresAt: Date.now() + DAY_MS,
    });
    const serial = randomBytes(16).toString('hex');
    await registry.enrolments.importFactoryKeys([{ serial, key: randomBytes(32) }]);
    // Twice: the first attempt may not bind the serial to the device for the second.
    for (let times = 0; times < 2; times += 1) {
      expect(await registry.enrolments.admit(forged)).toBeUndefined();
      expect(await registry.enrolments.admitByLink(token, forged)).toBeUndefined();
      expect(await registry.enrolments.admit(forged, { serial })).toBeUndefined();
    }
    expect((await registry.credentials.findKnown(contact.deviceId))?.credential).toEqual(credential);
  });

  it('is admitted by the serial that proved it before', async () => {
    const { registry } = fixture;
    const contact = newContact();
    const serial = randomBytes(16).toString('hex');
    await registry.enrolments.importFactoryKeys([{ serial, key: randomBytes(32) }]);
    const former = await registry.enrolments.admit(contact, { serial });
    const erased = { ...contact, clientUuid: randomUUID() };
    const known = await registry.enrolments.admit(erased, { serial });
    expect(known?.credential.secret).toBeDefined();
    expect(former && (await logIn(registry, former)).kind).toBe('refused');
    expect(await registry.enrolments.admit(newContact(), { serial })).toBeUndefined();
    expect(await registry.enrolments.admit(newContact(), { serial: 'unknown' })).toBeUndefined();
  });
});

describe('registering', () => {
  it('makes all of a list or none, and names what is there already', async () => {
    const { registry } = fixture;
    const [one, two, three] = [
      newDevice({ name: 'One', tags: ['b', 'a'] }),
      newDevice({ transport: 'WEBSOCKET' }),
      newDevice(),
    ];
    expect(await registry.enrolments.register([one, two])).toMatchObject({
      kind: 'registered',
      devices: [
        {
          device: { id: one.deviceId, name: 'One', tags: ['a', 'b'] },
          known: { transport: 'MQTT', clientUuidHash: undefined },
        },
        { device: { id: two.deviceId, reachability: 'IN_CONVERSATION' }, known: { transport: 'WEBSOCKET' } },
      ],
    });
    expect(await registry.enrolments.register([three, two])).toEqual({ kind: 'conflict', conflicts: [two.deviceId] });
    expect(await registry.devices.find(three.deviceId)).toBeUndefined();
    const rivals = await Promise.all(
      Array.from({ length: 6 }, () => registry.enrolments.register([newDevice(), three])),
    );
    expect(rivals.filter(({ kind }) => kind === 'registered')).toHaveLength(1);
  });

  it('ends a code that the same device shows', async () => {
    const { registry } = fixture;
    const contact = newContact();
    const { code } = await registry.enrolments.request(contact);
    await registry.enrolments.register([newDevice({ deviceId: contact.deviceId })]);
    expect((await registry.enrolments.approve(approval(code))).kind).toBe('NOT_FOUND');
  });
});

describe('a device that was removed', () => {
  it('is refused at once, here and in other processes within seconds', async () => {
    const { registry, other } = fixture;
    const contact = newContact();
    const known = await admitted(registry, contact);
    expect((await logIn(registry, known)).kind).toBe('granted');
    expect((await logIn(other, known)).kind).toBe('granted');
    expect(await registry.enrolments.remove(contact.deviceId)).toMatchObject({ id: contact.deviceId });
    expect(await logIn(registry, known)).toEqual({ kind: 'refused', deviceId: undefined });
    expect(await registry.enrolments.isDenied(contact.deviceId)).toBe(true);
    expect(await registry.credentials.findKnown(contact.deviceId)).toBeUndefined();
    expect(await registry.devices.find(contact.deviceId)).toBeUndefined();
    await expect.poll(async () => (await logIn(other, known)).kind, { timeout: 5_000 }).toBe('refused');
    expect(await other.enrolments.isDenied(contact.deviceId)).toBe(true);
    expect(await registry.enrolments.remove(contact.deviceId)).toBeUndefined();
    expect(await registry.enrolments.isDenied(newContact().deviceId)).toBe(false);
  });

  it('gets no session although its login was on its way', async () => {
    const { registry, sql } = fixture;
    const lease = await registry.takeLease();
    const contact = newContact();
    await admitted(registry, contact);
    const last = await registry.devices.connect(connecting(contact));
    const removed = await registry.enrolments.remove(contact.deviceId);
    expect(removed).toEqual({ id: contact.deviceId, epoch: last.epoch });
    expect(await sql(`SELECT close_reason FROM session WHERE device_id = '${contact.deviceId}'`)).toEqual([
      { close_reason: 'device_removed' },
    ]);
    const { epoch } = await registry.devices.connect(connecting(contact));
    const ready = {
      model: undefined,
      firmwareVersion: undefined,
      toolSetHash: undefined,
      toolsComplete: false,
      at: Date.now(),
    };
    const answer = await registry.devices.ready({ deviceId: contact.deviceId, epoch, gatewayId: lease.id, ...ready });
    expect(answer.isCurrent).toBe(false);
    const atOnce = await registry.devices.connect({
      ...connecting(contact),
      ready: { gatewayId: lease.id, ...ready },
    });
    expect(atOnce).toMatchObject({ epoch: epoch + 1, ready: { isCurrent: false } });
    expect(await registry.devices.find(contact.deviceId)).toBeUndefined();
    await lease.release();
  });

  it('returns after an approval, with epochs that continue and new credentials', async () => {
    const { registry } = fixture;
    const contact = newContact();
    const former = await admitted(registry, contact);
    const { epoch: before } = await registry.devices.connect(connecting(contact));
    await registry.enrolments.remove(contact.deviceId);
    const { code } = await registry.enrolments.request(contact);
    expect((await registry.enrolments.approve(approval(code))).kind).toBe('approved');
    expect(await registry.enrolments.isDenied(contact.deviceId)).toBe(false);
    expect((await logIn(registry, former)).kind).toBe('refused');
    expect((await registry.devices.connect(connecting(contact))).epoch).toBeGreaterThan(before);
    await registry.enrolments.remove(contact.deviceId);
    expect((await registry.enrolments.register([newDevice({ deviceId: contact.deviceId })])).kind).toBe('registered');
    expect(await registry.enrolments.isDenied(contact.deviceId)).toBe(false);
  });
});
