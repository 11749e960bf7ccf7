import { randomUUID } from 'node:crypto';
import type { DeviceId } from '@flotilla/mcp';
import type { OtaContact } from '@flotilla/registry';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { admin, openHub, realClock, silent } from '../fleet-fixture.suite.js';
import type { HubFixture } from '../fleet-fixture.suite.js';
import { Provisioning } from './provisioning.js';

let fixture: HubFixture;
let provisioning: Provisioning;

beforeAll(async () => {
  fixture = await openHub({ withWorker: false });
  const { registry, bus } = fixture.hub;
  provisioning = new Provisioning({ registry, bus, clock: realClock, logger: silent });
});
beforeEach(() => {
  fixture.hub.gateway.disconnected.length = 0;
});
afterAll(() => fixture.close());

let macs = 0;
const newContact = (change: Partial<OtaContact> = {}): OtaContact => {
  macs += 1;
  const deviceId = `02:ee:00:00:00:${macs.toString(16).padStart(2, '0')}` as DeviceId;
  const plain = { clientUuid: randomUUID(), model: 'board', firmwareVersion: '2.4.2', remoteAddress: '192.0.2.44' };
  return { deviceId, ...plain, at: Date.now(), ...change };
};

async function eventsOf(
  deviceId: string,
  count = 1,
): Promise<readonly { readonly type: string; readonly data: unknown }[]> {
  const { events } = fixture.hub.registry;
  await expect.poll(async () => (await events.page({ deviceId }, 'AT_ASC', { first: 50 })).rows.length).toBe(count);
  return (await events.page({ deviceId }, 'AT_ASC', { first: 50 })).rows.map(({ type, data }) => ({ type, data }));
}

describe('registering a microcontroller that the hub dials', () => {
  const board = (deviceId: string, address: string) => ({ deviceId, tags: [], dialect: 'MCPU', address }) as const;

  it('refuses an address that the hub may not dial, and records whether an administrator gave it', async () => {
    const { registry, bus } = fixture.hub;
    const refuseAddress = async (address: string, byAdmin: boolean) =>
      address === '10.0.0.9:3000' && !byAdmin ? 'List its network.' : undefined;
    const guarded = new Provisioning({ registry, bus, clock: realClock, logger: silent, refuseAddress });
    const refused = await guarded.registerDevices(
      [board('dialled-0', '10.0.0.8:3000'), board('dialled-1', '10.0.0.9:3000')],
      ['input'],
      admin,
    );
    expect(refused).toMatchObject({
      refusal: { code: 'INVALID', path: ['input', '1', 'address'], message: 'List its network.' },
    });
    expect(await registry.devices.find('dialled-0')).toBeUndefined();
    await guarded.registerDevices([board('dialled-1', '10.0.0.9:3000')], ['input'], { ...admin, isAdmin: true });
    await guarded.registerDevices([board('dialled-2', '10.0.0.8:3000')], ['input'], admin);
    expect(await registry.dials.take(fixture.hub.lease.id, 10)).toEqual([
      { deviceId: 'dialled-1', address: '10.0.0.9:3000', byAdmin: true },
      { deviceId: 'dialled-2', address: '10.0.0.8:3000', byAdmin: false },
    ]);
  });

  it('does not wait for ever for names that no server resolves', async () => {
    const { registry, bus } = fixture.hub;
    let now = 0;
    const clock = {
      now: () => now,
      setTimer: (delayMs: number, wake: () => void) => {
        now += delayMs;
        wake();
        return () => undefined;
      },
    };
    const refuseAddress = (address: string) =>
      address.startsWith('slow') ? new Promise<undefined>(() => undefined) : Promise.resolve(undefined);
    const guarded = new Provisioning({ registry, bus, clock, logger: silent, refuseAddress });
    const boards = (count: number) =>
      Array.from({ length: count }, (_, index) => board(`slow-${String(index)}`, `slow-${String(index)}:3000`));
    const refusal = { code: 'UNAVAILABLE', path: ['input'], message: expect.stringMatching(/in time/) };
    expect(await guarded.registerDevices(boards(7), ['input'], admin)).toEqual({ refusal });
    expect(await guarded.previewRegistration(boards(7), ['input'], admin)).toEqual([refusal]);
    expect(await registry.devices.find('slow-0')).toBeUndefined();
    expect(await guarded.registerDevices(boards(2), ['input'], admin)).toMatchObject({ registered: [{}, {}] });
  });
});

describe('removing a device', () => {
  it('ends its session, rejects it from then on, and adds an event', async () => {
    const { registry } = fixture.hub;
    const contact = newContact();
    const known = await registry.enrolments.admit(contact);
    await fixture.hub.connect([contact.deviceId]);
    expect(await provisioning.removeDevice(contact.deviceId, admin)).toEqual({ deviceId: contact.deviceId });
    expect(fixture.hub.gateway.disconnected).toEqual([contact.deviceId]);
    const { mqttClientId, mqttUsername, secret } = known?.credential ?? {};
    const login = { clientId: mqttClientId ?? '', username: mqttUsername ?? '', password: Buffer.from(secret ?? '') };
    expect((await registry.credentials.checkMqtt(login)).kind).toBe('refused');
    expect(await eventsOf(contact.deviceId)).toEqual([{ type: 'device.removed', data: { actor: 'admin' } }]);
    expect((await provisioning.removeDevice(contact.deviceId, admin)) as object).toMatchObject({
      refusal: { code: 'NOT_FOUND' },
    });
  });
});

describe('changing the transport', () => {
  it('issues a new secret if the old one was used, because the device kept it for the other transport', async () => {
    const { enrolments, credentials } = fixture.hub.registry;
    const contact = newContact();
    const known = await enrolments.admit(contact);
    const { mqttClientId, mqttUsername, secret } = known?.credential ?? {};
    const login = { clientId: mqttClientId ?? '', username: mqttUsername ?? '', password: Buffer.from(secret ?? '') };
    expect((await credentials.checkMqtt(login)).kind).toBe('granted');
    await expect.poll(async () => (await credentials.findKnown(contact.deviceId))?.credential.secret).toBeUndefined();
    expect(await provisioning.setDeviceTransport(contact.deviceId, 'WEBSOCKET', admin)).toEqual({});
    const changed = await credentials.findKnown(contact.deviceId);
    expect(changed?.transport).toBe('WEBSOCKET');
    expect(changed?.credential.secret).toBeTruthy();
    expect((await credentials.checkMqtt(login)).kind).toBe('granted');
  });

  it('keeps a secret that waits to be used', async () => {
    const { enrolments, credentials } = fixture.hub.registry;
    const contact = newContact();
    const known = await enrolments.admit(contact);
    await provisioning.setDeviceTransport(contact.deviceId, 'WEBSOCKET', admin);
    expect((await credentials.findKnown(contact.deviceId))?.credential.secret).toBe(known?.credential.secret);
  });
});

describe('microcontrollers', () => {
  const board = (deviceId: string, more: object) => ({ deviceId, tags: [], dialect: 'MCPU' as const, ...more });

  it('that the hub dials get no credential for any input', async () => {
    const { credentials } = fixture.hub.registry;
    await provisioning.registerDevices([board('dialled', { address: '127.0.0.1:3000' })], ['input'], admin);
    const rotated = await provisioning.rotateDeviceCredential('dialled', admin);
    expect(rotated).toMatchObject({
      refusal: { code: 'INVALID', path: ['deviceId'], message: expect.stringContaining('dials') },
    });
    const moved = await provisioning.setDeviceTransport('dialled', 'MQTT', admin);
    expect(moved).toMatchObject({ refusal: { code: 'INVALID', path: ['input', 'transport'] } });
    expect(await credentials.findKnown('dialled')).toBeUndefined();
    expect((await eventsOf('dialled')).map(({ type }) => type)).toEqual(['device.registered']);
  });

  it('that connect themselves keep their secret when the transport changes', async () => {
    const { credentials } = fixture.hub.registry;
    const answer = await provisioning.registerDevices([board('comes', { transport: 'WEBSOCKET' })], ['input'], admin);
    const token = ('registered' in answer && answer.registered[0]?.known?.credential.secret) || '';
    expect((await credentials.checkToken({ deviceId: 'comes', token })).kind).toBe('granted');
    const used = await credentials.findKnown('comes');
    expect(used?.credential.secret).toBeUndefined();
    expect(await provisioning.setDeviceTransport('comes', 'MQTT', admin)).toEqual({});
    const { mqttClientId } = used?.credential ?? {};
    expect(await credentials.findKnown('comes')).toMatchObject({ transport: 'MQTT', credential: { mqttClientId } });
  });
});

describe('approving a code', () => {
  const request = (code: string, confirm = false) => ({ code, confirm, name: 'Hall', tags: ['hall'] });

  it('names the device and ends no session if it had none', async () => {
    const contact = newContact();
    const { code } = await fixture.hub.registry.enrolments.request(contact);
    expect(await provisioning.approveEnrolment(request(code), admin)).toMatchObject({
      device: { id: contact.deviceId, name: 'Hall', tags: ['hall'] },
    });
    expect(fixture.hub.gateway.disconnected).toEqual([]);
    expect(await eventsOf(contact.deviceId)).toEqual([
      { type: 'enrolment.approved', data: { by: 'code', actor: 'admin', replaces: false } },
    ]);
  });

  it('ends the session of the identity that it replaces, after confirmation', async () => {
    const { registry } = fixture.hub;
    const contact = newContact();
    await registry.enrolments.admit(contact);
    await fixture.hub.connect([contact.deviceId]);
    const { code } = await registry.enrolments.request({ ...contact, clientUuid: randomUUID() });
    expect(await provisioning.approveEnrolment(request(code), admin)).toMatchObject({
      refusal: { code: 'CONFLICT', path: ['confirm'] },
    });
    expect(fixture.hub.gateway.disconnected).toEqual([]);
    expect(await provisioning.approveEnrolment(request(code, true), admin)).toMatchObject({
      device: { id: contact.deviceId },
    });
    expect(fixture.hub.gateway.disconnected).toEqual([contact.deviceId]);
  });

  it('refuses a wrong code, and after ten of them every code', async () => {
    const guesser = { id: randomUUID(), name: 'guesser', mayCallUserOnly: false, mayChangeFirmware: false };
    const codes: unknown[] = [];
    for (let times = 0; times < 11; times += 1) {
      const answer = await provisioning.approveEnrolment(request('000000'), guesser);
      codes.push('refusal' in answer ? answer.refusal.code : 'approved');
    }
    expect(codes).toEqual([...Array.from({ length: 10 }, () => 'NOT_FOUND'), 'LIMIT_EXCEEDED']);
  });
});

describe('registering a device with a proof', () => {
  const clientId = '3B0C5B1E-6A43-4F0E-9A44-0D6A5F0C8E21';
  const inDays = (days: number) => Date.now() + days * 86_400_000;
  const register = (more: object) =>
    provisioning.registerDevices(
      [{ deviceId: newContact().deviceId, tags: [], dialect: 'XIAOZHI', ...more }],
      ['input'],
      admin,
    );

  it('accepts a Client-Id in any case, and an end of trust on first use within a week', async () => {
    const answer = await register({ clientId });
    const { deviceId } = ('registered' in answer && answer.registered[0]?.known) || newContact();
    const own = newContact({ deviceId, clientUuid: clientId.toLowerCase() });
    expect((await fixture.hub.registry.credentials.recognise(own)).kind).toBe('proven');
    expect(await register({ admitWithoutCodeUntil: inDays(7) })).toHaveProperty('registered');
  });

  it.each([
    [{ clientId: 'lamp' }, 'clientId', /UUID/],
    [{ clientId: '' }, 'clientId', /UUID/],
    [{ clientId: `${clientId}0` }, 'clientId', /UUID/],
    [{ admitWithoutCodeUntil: Date.now() - 1 }, 'admitWithoutCodeUntil', /in the past/],
    [{ admitWithoutCodeUntil: inDays(7.01) }, 'admitWithoutCodeUntil', /at most 7 days/],
    [{ clientId, admitWithoutCodeUntil: inDays(1) }, 'clientId', /not both/],
    [{ dialect: 'MCPU', deviceId: 'bed' }, 'address', /has no address.* such as 192\.168\.1\.41:3000/],
    [{ dialect: 'MCPU', deviceId: 'bed', address: 'bed.local' }, 'address', /cannot have the address "bed.local"/],
    [{ dialect: 'MCPU', deviceId: 'bed', transport: 'MQTT', clientId }, 'clientId', /credential/],
    [
      { dialect: 'MCPU', deviceId: 'bed', transport: 'MQTT', admitWithoutCodeUntil: inDays(1) },
      'admitWithoutCodeUntil',
      /credential/,
    ],
  ])('refuses %j and repeats no secret', async (more, member, message) => {
    const answer = await register(more);
    expect(answer).toMatchObject({
      refusal: { code: 'INVALID', path: ['input', '0', member], message: expect.stringMatching(message) },
    });
    expect(JSON.stringify(answer)).not.toContain(clientId);
  });
});

describe('events of provisioning', () => {
  it('name the change and the actor, and contain no secret', async () => {
    const contact = newContact();
    const registration = { deviceId: contact.deviceId.toUpperCase(), tags: [], dialect: 'XIAOZHI' } as const;
    const answer = await provisioning.registerDevices([registration], ['input'], admin);
    const first = 'registered' in answer ? answer.registered[0]?.known?.credential.secret : undefined;
    const rotated = await provisioning.rotateDeviceCredential(contact.deviceId, admin);
    const second = 'known' in rotated ? rotated.known.credential.secret : undefined;
    const told = await eventsOf(contact.deviceId, 2);
    expect(told.map(({ type }) => type)).toEqual(['device.registered', 'credential.rotated']);
    for (const secret of [first, second]) {
      expect(secret).toMatch(/.{30}/);
      expect(JSON.stringify(told)).not.toContain(secret);
    }
  });

  it('describe links without their tokens', async () => {
    const seen: unknown[] = [];
    const unsubscribe = fixture.hub.bus.feed.subscribe('event', (event) => seen.push(event));
    const link = { name: 'Fair', tags: [], maxDevices: 3, expiresAt: Date.now() + 60_000 };
    const answer = await provisioning.createEnrolmentLink(link, ['input'], admin);
    if ('refusal' in answer) throw new TypeError(answer.refusal.message);
    await provisioning.revokeEnrolmentLink(answer.link.id, admin);
    await expect
      .poll(() => seen)
      .toMatchObject([{ type: 'enrolment_link.created', data: { name: 'Fair' } }, { type: 'enrolment_link.revoked' }]);
    expect(JSON.stringify(seen)).not.toContain(answer.token);
    unsubscribe();
  });
});
