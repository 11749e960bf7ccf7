import { randomUUID } from 'node:crypto';
import type { DeviceId } from '@flotilla/mcp';
import type { OtaContact } from '@flotilla/registry';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openApi, type OpenApi } from './mounted-api.suite.js';

const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
let api: OpenApi;

beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

const contactOf = (deviceId: string): OtaContact => ({
  deviceId: deviceId as DeviceId,
  clientUuid: randomUUID(),
  model: 'lichuang-dev',
  firmwareVersion: '2.4.2',
  remoteAddress: '192.0.2.44',
  at: Date.now(),
});

const registerOne = `mutation ($input: RegisterDeviceInput!) {
  registerDevice(input: $input) { device { id name tags transport presence } credential userErrors { code path } } }`;
const registerMany = `mutation ($input: [RegisterDeviceInput!]!) {
  registerDevices(input: $input) { devices { id } credentials userErrors { code path } } }`;
const approve = `mutation ($code: String!, $confirm: Boolean) {
  approveEnrolment(code: $code, name: "Hall", tags: ["hall"], confirm: $confirm) {
    device { id name tags model } userErrors { code path } } }`;

describe('registering devices', () => {
  it('gives the device as it is listed and its credential once', async () => {
    const input = {
      deviceId: '02:AA:00:00:00:01',
      name: 'Lamp',
      tags: ['b', 'a'],
      dialect: 'XIAOZHI',
      transport: 'WEBSOCKET',
    };
    const { data } = await api.ask(registerOne, { input });
    expect(data).toEqual({
      registerDevice: {
        device: {
          id: '02:aa:00:00:00:01',
          name: 'Lamp',
          tags: ['a', 'b'],
          transport: 'WEBSOCKET',
          presence: 'OFFLINE',
        },
        credential: { transport: 'WEBSOCKET', password: expect.stringMatching(/^[\w-]{43}$/) as unknown },
        userErrors: [],
      },
    });
    const again = await api.ask(registerOne, { input });
    expect(again.data).toMatchObject({
      registerDevice: {
        device: null,
        credential: null,
        userErrors: [{ code: 'CONFLICT', path: ['input', 'deviceId'] }],
      },
    });
  });

  it('accepts the Client-Id of a board, and never returns it', async () => {
    const contact = contactOf('02:aa:00:00:00:41');
    const input = { deviceId: contact.deviceId, dialect: 'XIAOZHI', clientId: contact.clientUuid };
    const answer = await api.ask(registerOne, { input });
    expect(answer.data).toMatchObject({ registerDevice: { device: { id: contact.deviceId }, userErrors: [] } });
    expect((await api.registry.credentials.recognise(contact)).kind).toBe('proven');
    const { rows } = await api.registry.audit.page({ subject: `device:${contact.deviceId}` }, { first: 9 });
    expect(rows.map(({ action }) => action)).toEqual(['device.client_bound', 'device.registered']);
    expect(JSON.stringify([answer, rows])).not.toContain(contact.clientUuid);
  });

  it('accepts an end of trust on first use, at most a week from now', async () => {
    const [contact, late] = [contactOf('02:aa:00:00:00:42'), contactOf('02:aa:00:00:00:43')];
    const until = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
    const device = ({ deviceId }: OtaContact, days: number) => ({
      deviceId,
      dialect: 'XIAOZHI',
      admitWithoutCodeUntil: until(days),
    });
    const refused = await api.ask(registerMany, { input: [device(contact, 1), device(late, 8)] });
    expect(refused.data).toMatchObject({
      registerDevices: {
        devices: [],
        userErrors: [{ code: 'INVALID', path: ['input', '1', 'admitWithoutCodeUntil'] }],
      },
    });
    await api.ask(registerMany, { input: [device(contact, 1)] });
    expect(await api.registry.credentials.recognise(contact)).toMatchObject({ kind: 'unproven', firstUse: 'due' });
  });

  it('registers all of a list in its order, or none', async () => {
    const input = ['02:aa:00:00:01:02', '02:aa:00:00:01:01'].map((deviceId) => ({ deviceId, dialect: 'XIAOZHI' }));
    const bad = await api.ask(registerMany, { input: [...input, { deviceId: 'lamp', dialect: 'XIAOZHI' }] });
    expect(bad.data).toEqual({
      registerDevices: {
        devices: [],
        credentials: [],
        userErrors: [{ code: 'INVALID', path: ['input', '2', 'deviceId'] }],
      },
    });
    const { data } = await api.ask(registerMany, { input });
    expect(data).toMatchObject({
      registerDevices: {
        devices: [{ id: '02:aa:00:00:01:02' }, { id: '02:aa:00:00:01:01' }],
        credentials: [{ transport: 'MQTT' }, { transport: 'MQTT' }],
        userErrors: [],
      },
    });
    const repeated = await api.ask(registerMany, {
      input: [{ deviceId: '02:aa:00:00:01:03', dialect: 'XIAOZHI' }, input[0]],
    });
    expect(repeated.data).toMatchObject({
      registerDevices: { devices: [], userErrors: [{ code: 'CONFLICT', path: ['input', '1', 'deviceId'] }] },
    });
    expect((await api.ask('{ device(id: "02:aa:00:00:01:03") { id } }')).data).toEqual({ device: null });
  });

  it.each([
    [{ deviceId: '02:aa:00:00:02:01', dialect: 'MCPU' }, 'deviceId'],
    [{ deviceId: 'greenhouse-7', dialect: 'MCPU' }, 'address'],
    [{ deviceId: 'greenhouse-7', dialect: 'MCPU', address: '192.0.2.41' }, 'address'],
    [{ deviceId: '02:aa:00:00:02:01', dialect: 'XIAOZHI', address: '192.0.2.41:3000' }, 'address'],
    [{ deviceId: '02:aa:00:00:02:01', dialect: 'XIAOZHI', transport: 'TCP' }, 'transport'],
    [{ deviceId: '02:aa:00:00:02:01', dialect: 'XIAOZHI', name: ' ' }, 'name'],
    [{ deviceId: '02:aa:00:00:02:01', dialect: 'XIAOZHI', tags: ['#'] }, 'tags'],
    [{ deviceId: '', dialect: 'XIAOZHI' }, 'deviceId'],
  ])('refuses %j and names the member', async (input, member) => {
    const { data } = await api.ask(registerOne, { input });
    expect(data).toMatchObject({
      registerDevice: { device: null, userErrors: [{ code: 'INVALID', path: ['input', member] }] },
    });
  });

  it('refuses more than a thousand at once', async () => {
    const input = Array.from({ length: 1_001 }, () => ({ deviceId: 'x', dialect: 'XIAOZHI' }));
    expect((await api.ask(registerMany, { input })).data).toMatchObject({
      registerDevices: { userErrors: [{ code: 'LIMIT_EXCEEDED', path: ['input'] }] },
    });
  });
});

describe('approving devices', () => {
  it('shows waiting devices to readers of devices, and the code only to ADMIN', async () => {
    const contact = contactOf('02:bb:00:00:00:01');
    const { code } = await api.registry.enrolments.request(contact);
    const query = '{ enrolments { nodes { id code replaces deviceId model remoteAddress } } }';
    const asAdmin = await api.ask(query);
    expect(asAdmin.data).toMatchObject({
      enrolments: { nodes: [{ code, replaces: false, deviceId: contact.deviceId }] },
    });
    expect(JSON.stringify(asAdmin.data)).not.toContain(contact.clientUuid);
    const asReader = await api.ask(query, {}, ['DEVICES_READ', 'DEVICES_WRITE']);
    expect(asReader.data).toMatchObject({ enrolments: { nodes: [{ code: null, deviceId: contact.deviceId }] } });
    const { data } = await api.ask(approve, { code }, ['DEVICES_READ', 'DEVICES_WRITE']);
    expect(data).toEqual({
      approveEnrolment: {
        device: { id: contact.deviceId, name: 'Hall', tags: ['hall'], model: 'lichuang-dev' },
        userErrors: [],
      },
    });
    expect((await api.ask(query)).data).toEqual({ enrolments: { nodes: [] } });
  });

  it('asks again before it replaces a device that is online', async () => {
    const deviceId = '02:bb:00:00:00:02';
    await api.registry.enrolments.admit(contactOf(deviceId));
    await api.addDevice(deviceId);
    const { code } = await api.registry.enrolments.request(contactOf(deviceId));
    expect((await api.ask('{ enrolments { nodes { replaces } } }')).data).toEqual({
      enrolments: { nodes: [{ replaces: true }] },
    });
    expect((await api.ask(approve, { code })).data).toMatchObject({
      approveEnrolment: { device: null, userErrors: [{ code: 'CONFLICT', path: ['confirm'] }] },
    });
    expect((await api.ask(approve, { code, confirm: true })).data).toMatchObject({
      approveEnrolment: { device: { id: deviceId } },
    });
  });

  it('rejects one that waits', async () => {
    await api.registry.enrolments.request(contactOf('02:bb:00:00:00:03'));
    const { rows } = await api.registry.enrolments.page({ first: 10 });
    const reject = 'mutation ($id: ID!) { rejectEnrolment(id: $id) { device { id } userErrors { code } } }';
    expect((await api.ask(reject, { id: rows[0]?.id })).data).toEqual({
      rejectEnrolment: { device: null, userErrors: [] },
    });
    expect((await api.ask(reject, { id: rows[0]?.id })).data).toMatchObject({
      rejectEnrolment: { userErrors: [{ code: 'NOT_FOUND' }] },
    });
  });

  it('refuses text that cannot be a code', async () => {
    for (const code of ['', '12345', '1234567', 'abcdef'])
      expect((await api.ask(approve, { code })).data).toMatchObject({
        approveEnrolment: { userErrors: [{ code: 'INVALID' }] },
      });
  });
});

describe('links', () => {
  const create = `mutation ($input: EnrolmentLinkInput!) {
    createEnrolmentLink(input: $input) {
      enrolmentLink { id name tags maxDevices usedCount revokedAt } url userErrors { code path } } }`;

  it('give their URL once, count devices and end when revoked', async () => {
    const { data } = await api.ask(create, {
      input: { name: 'Fair', tags: ['fair'], maxDevices: 5, expiresAt: tomorrow },
    });
    const { enrolmentLink, url } = (
      data as {
        readonly createEnrolmentLink: { readonly url: string; readonly enrolmentLink: { readonly id: string } };
      }
    ).createEnrolmentLink;
    expect(enrolmentLink).toMatchObject({ name: 'Fair', maxDevices: 5, usedCount: 0, revokedAt: null });
    const token = /^http:\/\/hub\.test\/ota\/([\w-]{43})\/$/.exec(url)?.[1] ?? '';
    expect(await api.registry.enrolments.admitByLink(token, contactOf('02:cc:00:00:00:01'))).toBeDefined();
    expect((await api.ask('{ enrolmentLinks { name usedCount } }')).data).toEqual({
      enrolmentLinks: [{ name: 'Fair', usedCount: 1 }],
    });
    const revoke =
      'mutation ($id: ID!) { revokeEnrolmentLink(id: $id) { enrolmentLink { revokedAt } userErrors { code } } }';
    expect((await api.ask(revoke, { id: enrolmentLink.id })).data).toMatchObject({
      revokeEnrolmentLink: { enrolmentLink: { revokedAt: expect.any(String) as unknown } },
    });
    expect((await api.ask(revoke, { id: 'x' })).data).toMatchObject({
      revokeEnrolmentLink: { userErrors: [{ code: 'NOT_FOUND' }] },
    });
    expect(await api.registry.enrolments.admitByLink(token, contactOf('02:cc:00:00:00:02'))).toBeUndefined();
  });

  it.each([
    [{ maxDevices: 0 }, 'INVALID', 'maxDevices'],
    [{ maxDevices: 10_001 }, 'LIMIT_EXCEEDED', 'maxDevices'],
    [{ expiresAt: '2020-01-01T00:00:00Z' }, 'INVALID', 'expiresAt'],
    [{ expiresAt: '2999-01-01T00:00:00Z' }, 'LIMIT_EXCEEDED', 'expiresAt'],
    [{ name: '' }, 'INVALID', 'name'],
    [{ tags: ['not a tag'] }, 'INVALID', 'tags'],
  ])('refuse %j', async (change, code, member) => {
    const input = { name: 'n', maxDevices: 1, expiresAt: tomorrow, ...change };
    expect((await api.ask(create, { input })).data).toMatchObject({
      createEnrolmentLink: { enrolmentLink: null, url: null, userErrors: [{ code, path: ['input', member] }] },
    });
  });
});

describe('an approved device', () => {
  it('can change its transport and credential, and be removed', async () => {
    const { deviceId } = (await api.registry.enrolments.admit(contactOf('02:dd:00:00:00:01'))) ?? {};
    const update = `mutation ($deviceId: ID!, $transport: TransportKind) {
      updateDevice(input: {deviceId: $deviceId, transport: $transport}) { device { id } userErrors { code path } } }`;
    await api.ask(update, { deviceId, transport: 'WEBSOCKET' });
    expect((await api.registry.credentials.findKnown(deviceId ?? ''))?.transport).toBe('WEBSOCKET');
    expect((await api.ask(update, { deviceId, transport: 'TCP' })).data).toMatchObject({
      updateDevice: { device: null, userErrors: [{ code: 'INVALID', path: ['input', 'transport'] }] },
    });
    const rotate =
      'mutation ($deviceId: ID!) { rotateDeviceCredential(deviceId: $deviceId) { credential userErrors { code } } }';
    const rotated = await api.ask(rotate, { deviceId });
    const secret = (await api.registry.credentials.findKnown(deviceId ?? ''))?.credential.secret;
    expect(rotated.data).toEqual({
      rotateDeviceCredential: { credential: { transport: 'WEBSOCKET', password: secret }, userErrors: [] },
    });
    const remove = 'mutation ($deviceId: ID!) { removeDevice(deviceId: $deviceId) { deviceId userErrors { code } } }';
    expect((await api.ask(remove, { deviceId })).data).toEqual({ removeDevice: { deviceId, userErrors: [] } });
    for (const [act, payload] of [
      [remove, 'removeDevice'],
      [rotate, 'rotateDeviceCredential'],
    ] as const)
      expect((await api.ask(act, { deviceId })).data).toMatchObject({
        [payload]: { userErrors: [{ code: 'NOT_FOUND' }] },
      });
    const { data } = await api.ask(
      `query ($deviceId: ID!) { device(id: $deviceId) { id }
        events(filter: {deviceId: $deviceId}) { nodes { type data } } }`,
      {
        deviceId,
      },
    );
    expect(data).toMatchObject({ device: null });
    expect(JSON.stringify(data)).not.toContain(secret);
  });
});
