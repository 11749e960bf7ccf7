import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NewDevice, OtaContact } from '../provisioning.js';
import { hashOf } from '../../secrets/secrets.js';
import { logIn, newContact, openProvisioning } from '../provisioning-fixture.suite.js';
import type { ProvisioningFixture } from '../provisioning-fixture.suite.js';

const HOUR_MS = 3_600_000;
let fixture: ProvisioningFixture;

beforeAll(async () => {
  fixture = await openProvisioning();
});
afterAll(() => fixture.close());

/**
 * Registers a device; answers with the first request that it will make, and the credential that the
 * operator got.
 */
async function registered(change: Partial<NewDevice> = {}) {
  const contact = newContact();
  const device: NewDevice = {
    deviceId: contact.deviceId,
    name: 'Shelf 7',
    tags: ['shop'],
    dialect: 'XIAOZHI',
    transport: 'WEBSOCKET',
    ...change,
  };
  const answer = await fixture.registry.enrolments.register([device], { actor: 'admin' });
  const known = answer.kind === 'registered' ? answer.devices[0]?.known : undefined;
  if (known === undefined) throw new TypeError(`${contact.deviceId} was not registered.`);
  return { contact, known };
}

const stranger = (contact: OtaContact): OtaContact => ({ ...contact, clientUuid: randomUUID() });
const recognise = (contact: OtaContact) => fixture.registry.credentials.recognise(contact);
const approve = (code: string, confirm = false) =>
  fixture.registry.enrolments.approve({ code, approver: randomUUID(), confirm, at: Date.now() }, { actor: 'admin' });
const link = async () =>
  (
    await fixture.registry.enrolments.createLink({
      name: 'l',
      tags: ['of-link'],
      maxDevices: 1,
      expiresAt: Date.now() + HOUR_MS,
    })
  ).token;

/** What the trail says of the bindings of a device, first to last. */
async function bindingsOf({ deviceId }: OtaContact): Promise<readonly unknown[]> {
  const filter = { subject: `device:${deviceId}`, action: 'device.client_bound' };
  const { rows } = await fixture.registry.audit.page(filter, { first: 9 });
  return rows.map(({ actor, data, remoteAddress }) => ({ actor, remoteAddress, ...data })).reverse();
}

describe('a registered device whose Client-Id is not known', () => {
  it('is not bound to the first Client-Id that names it, which learns nothing', async () => {
    const { contact, known } = await registered();
    expect(await recognise(contact)).toEqual({ kind: 'unproven', isKnown: true, replaces: false, firstUse: 'none' });
    expect(await fixture.registry.enrolments.admitFirstUse(contact)).toBeUndefined();
    await fixture.registry.credentials.contacted(contact);
    expect(await fixture.registry.credentials.findKnown(contact.deviceId)).toEqual(known);
    expect(await bindingsOf(contact)).toEqual([]);
  });

  it('keeps name, tags, transport and credential when its code is approved, and is bound', async () => {
    const { registry } = fixture;
    const { contact, known } = await registered();
    const { code } = await registry.enrolments.request(contact);
    expect(await approve(code)).toMatchObject({
      kind: 'approved',
      hasReplaced: false,
      device: { name: 'Shelf 7', tags: ['shop'], reachability: 'IN_CONVERSATION', model: 'lichuang-dev' },
    });
    const bound = { ...known, clientUuidHash: hashOf(contact.clientUuid) };
    expect(await recognise(contact)).toEqual({ kind: 'proven', known: bound });
    expect((await recognise(stranger(contact))).kind).toBe('unproven');
    expect(await bindingsOf(contact)).toEqual([{ actor: 'admin', by: 'code', replaces: false }]);
  });

  it('comes in by a link, whose place it takes and whose tags it does not', async () => {
    const { registry } = fixture;
    const { contact, known } = await registered();
    const token = await link();
    expect(await registry.enrolments.admitByLink(`${token}x`, contact)).toBeUndefined();
    expect(await registry.enrolments.admitByLink(token, contact)).toEqual({
      ...known,
      clientUuidHash: hashOf(contact.clientUuid),
    });
    expect((await registry.devices.find(contact.deviceId))?.tags).toEqual(['shop']);
    expect(await registry.enrolments.admitByLink(token, newContact())).toBeUndefined();
    const [first] = (await registry.enrolments.links()).filter(({ usedCount }) => usedCount === 1);
    expect(await bindingsOf(contact)).toEqual([
      { actor: 'hub', remoteAddress: '192.0.2.44', by: 'link', link: first?.id },
    ]);
  });

  it('comes in by the serial number of a chip that proved itself', async () => {
    const { registry } = fixture;
    const { contact } = await registered();
    const serial = randomBytes(16).toString('hex');
    await registry.enrolments.importFactoryKeys([{ serial, key: randomBytes(32) }]);
    expect((await registry.enrolments.admit(contact, { serial }))?.clientUuidHash).toBe(hashOf(contact.clientUuid));
    expect(await bindingsOf(contact)).toMatchObject([{ actor: 'hub', by: 'factory_key', replaces: false }]);
  });

  it('whose credential is used belongs to the board that uses it: only a person gives it to another', async () => {
    const { registry } = fixture;
    const { contact, known } = await registered({ transport: 'MQTT', admitWithoutCodeUntil: Date.now() + HOUR_MS });
    expect((await logIn(registry, known)).kind).toBe('granted');
    await expect.poll(() => recognise(contact)).toMatchObject({ kind: 'unproven', replaces: true, firstUse: 'past' });
    const used = `SELECT FROM device_credential WHERE device_id = '${contact.deviceId}' AND used_at IS NOT NULL`;
    await expect.poll(() => fixture.sql(used)).toHaveLength(1);
    for (const admitted of [
      await registry.enrolments.admitFirstUse(contact),
      await registry.enrolments.admitByLink(await link(), contact),
      await registry.enrolments.admit(contact),
    ])
      expect(admitted).toBeUndefined();
    const { code } = await registry.enrolments.request(contact);
    const { rows } = await registry.enrolments.page({ first: 200 });
    expect(rows.find(({ deviceId }) => deviceId === contact.deviceId)).toMatchObject({ code, replaces: true });
    expect((await logIn(registry, known)).kind).toBe('granted');
    expect(await approve(code)).toMatchObject({ kind: 'approved', hasReplaced: true });
    expect((await logIn(registry, known)).kind).toBe('refused');
  });
});

describe('a device that was registered with its Client-Id', () => {
  it('is proven by it from the first request on, and by no other', async () => {
    const own = newContact();
    await registered({ deviceId: own.deviceId, clientUuid: own.clientUuid });
    expect(await recognise(own)).toMatchObject({ kind: 'proven', known: { deviceId: own.deviceId } });
    expect(await fixture.other.credentials.recognise(own)).toMatchObject({ kind: 'proven' });
    expect(await recognise(stranger(own))).toEqual({
      kind: 'unproven',
      isKnown: true,
      replaces: true,
      firstUse: 'none',
    });
  });

  it('has it stored as a hash, and masked on the audit trail', async () => {
    const clientUuid = randomUUID();
    const { contact } = await registered({ clientUuid });
    const subject = `device:${contact.deviceId}`;
    const { rows } = await fixture.registry.audit.page({ subject }, { first: 9 });
    expect(rows.map(({ action, data }) => [action, data])).toEqual([
      ['device.client_bound', { by: 'registration' }],
      [
        'device.registered',
        { name: 'Shelf 7', tags: ['shop'], dialect: 'XIAOZHI', transport: 'WEBSOCKET', clientId: '***' },
      ],
    ]);
    const stored = JSON.stringify(await fixture.sql(`SELECT * FROM device WHERE id = '${contact.deviceId}'`));
    expect(stored).toContain(hashOf(clientUuid));
    expect(stored + JSON.stringify(rows)).not.toContain(clientUuid);
  });
});

describe('trust on first use', () => {
  it('binds the first Client-Id that comes in its time, through any process, and reports a second one', async () => {
    const { registry, other } = fixture;
    const { contact, known } = await registered({ admitWithoutCodeUntil: Date.now() + HOUR_MS });
    const contacts = Array.from({ length: 8 }, () => stranger(contact));
    expect(await recognise(contact)).toMatchObject({ firstUse: 'due', replaces: false });
    const admitted = await Promise.all(
      contacts.map((each, index) => (index % 2 ? registry : other).enrolments.admitFirstUse(each)),
    );
    const [winner, ...others] = admitted.flatMap((each) => each ?? []);
    expect(others).toEqual([]);
    expect(winner).toEqual({ ...known, clientUuidHash: hashOf(contacts[admitted.indexOf(winner)]?.clientUuid ?? '') });
    expect(await recognise(contact)).toEqual({ kind: 'unproven', isKnown: true, replaces: true, firstUse: 'past' });
    expect(await bindingsOf(contact)).toEqual([{ actor: 'hub', remoteAddress: '192.0.2.44', by: 'first_use' }]);
  });

  it('ends', async () => {
    const until = Date.now() + HOUR_MS;
    const { contact } = await registered({ admitWithoutCodeUntil: until });
    const late = { ...contact, at: until };
    expect(await recognise(late)).toMatchObject({ firstUse: 'none' });
    expect(await fixture.registry.enrolments.admitFirstUse(late)).toBeUndefined();
    expect(await fixture.registry.enrolments.admitFirstUse({ ...contact, at: until - 1 })).toBeDefined();
  });
});

describe('the token of a registered device', () => {
  it('admits it over WebSocket and binds its Client-Id: the first, and no later one', async () => {
    const { registry } = fixture;
    const { contact, known } = await registered();
    const token = known.credential.secret ?? '';
    const granted = { kind: 'granted', deviceId: contact.deviceId };
    const wrong = { ...contact, token: `${token}x` };
    expect((await registry.credentials.checkWebSocket(wrong)).kind).toBe('refused');
    expect(await registry.credentials.checkWebSocket({ ...contact, token })).toEqual({ ...granted, hasBound: true });
    expect(await registry.credentials.checkWebSocket({ ...contact, token })).toEqual(granted);
    expect((await registry.credentials.checkWebSocket({ ...stranger(contact), token })).kind).toBe('refused');
    expect((await recognise(contact)).kind).toBe('proven');
    expect(await bindingsOf(contact)).toEqual([{ actor: 'hub', remoteAddress: '192.0.2.44', by: 'token' }]);
  });

  it('binds one of several that come at once through several processes', async () => {
    const { registry, other } = fixture;
    const { contact, known } = await registered();
    const token = known.credential.secret ?? '';
    const rivals = Array.from({ length: 8 }, (_, index) => (index < 4 ? contact : stranger(contact)));
    const verdicts = await Promise.all(
      rivals.map((each, index) => (index % 2 ? registry : other).credentials.checkWebSocket({ ...each, token })),
    );
    const granted = rivals.filter((_, index) => verdicts[index]?.kind === 'granted');
    expect(new Set(granted.map(({ clientUuid }) => clientUuid)).size).toBe(1);
    expect(await bindingsOf(contact)).toHaveLength(1);
  });
});

describe('a caller who is narrowed to some devices', () => {
  const within = { tags: ['shop'] };
  const device = (contact: OtaContact) =>
    ({ deviceId: contact.deviceId, name: undefined, tags: ['shop'], dialect: 'XIAOZHI', transport: 'MQTT' }) as const;

  it('registers neither a removed device nor one that waits, and changes nothing by trying', async () => {
    const { registry } = fixture;
    const [waiting, fresh] = [newContact(), newContact()];
    const { contact: removed } = await registered();
    await registry.enrolments.remove(removed.deviceId);
    const { code } = await registry.enrolments.request(waiting);
    for (const each of [removed, waiting])
      expect(await registry.enrolments.register([device(fresh), device(each)], undefined, within)).toEqual({
        kind: 'beyond',
        deviceId: each.deviceId,
      });
    expect(await registry.enrolments.isDenied(removed.deviceId)).toBe(true);
    expect((await registry.enrolments.request(waiting)).code).toBe(code);
    expect((await registry.enrolments.register([device(fresh)], undefined, within)).kind).toBe('registered');
    expect((await registry.enrolments.register([device(removed), device(waiting)])).kind).toBe('registered');
  });

  it('registers neither a blocked board nor one of a former server: others decide about those', async () => {
    const { enrolments, movingBoards } = fixture.registry;
    const [blocked, former] = [newContact(), newContact()];
    const [blockedBy, blockedAt] = ['admin', Date.now()];
    await enrolments.block({ deviceId: blocked.deviceId, blockedBy, blockedAt, blockedUntil: undefined });
    await movingBoards.notePassed({ ...former, answer: { bound: true }, mayBeAdded: true });
    for (const each of [blocked, former])
      expect(await enrolments.register([device(each)], undefined, within)).toEqual({
        kind: 'beyond',
        deviceId: each.deviceId,
      });
    const { rows } = await enrolments.blockedPage({ first: 100 });
    expect(rows.map(({ deviceId }) => deviceId)).toContain(blocked.deviceId);
    expect((await enrolments.register([device(blocked), device(former)])).kind).toBe('registered');
  });

  it('registers a board whose block has ended', async () => {
    const { enrolments } = fixture.registry;
    const { deviceId } = newContact();
    const [blockedAt, blockedUntil] = [Date.now() - HOUR_MS, Date.now() - 1];
    await enrolments.block({ deviceId, blockedBy: 'admin', blockedAt, blockedUntil });
    const contact = { ...newContact(), deviceId };
    expect((await enrolments.register([device(contact)], undefined, within)).kind).toBe('registered');
  });

  it('registers a device that asked so long ago that its code is void', async () => {
    const { registry } = fixture;
    const contact = newContact({ at: Date.now() - 16 * 60_000 });
    await registry.enrolments.request(contact);
    expect((await registry.enrolments.register([device(contact)], undefined, within)).kind).toBe('registered');
  });
});
