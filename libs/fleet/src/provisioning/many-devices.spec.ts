import { randomUUID } from 'node:crypto';
import type { DeviceId } from '@flotilla/mcp';
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
const newMac = () => `02:ef:00:00:00:${(++macs).toString(16).padStart(2, '0')}` as DeviceId;

async function enrolled(count: number, tag: string): Promise<readonly DeviceId[]> {
  const ids = Array.from({ length: count }, newMac);
  const { registry } = fixture.hub;
  for (const deviceId of ids) {
    const facts = { model: 'board', firmwareVersion: '2.4.2', remoteAddress: '192.0.2.44' };
    await registry.enrolments.admit({ deviceId, clientUuid: randomUUID(), ...facts, at: Date.now() });
    await registry.devices.update(deviceId, { tags: [tag] });
  }
  return ids;
}

describe('removing many devices', () => {
  it('removes those of the filter, ends their sessions, and records each', async () => {
    const { registry } = fixture.hub;
    const ids = await enrolled(3, 'retired');
    const [other = ''] = await enrolled(1, 'kept');
    await fixture.hub.connect([ids[0] ?? '']);
    const answer = await provisioning.many.remove(
      { filter: { tags: ['retired'] }, expectedCount: 3 },
      ['input'],
      admin,
    );
    expect(answer).toEqual({ removedCount: 3 });
    expect(await registry.devices.findMany(ids)).toEqual([undefined, undefined, undefined]);
    expect(await registry.devices.find(other)).toBeDefined();
    expect(fixture.hub.gateway.disconnected).toEqual([ids[0]]);
    for (const deviceId of ids) {
      const page = async () => (await registry.events.page({ deviceId }, 'AT_ASC', { first: 5 })).rows;
      await expect.poll(async () => (await page()).map(({ type }) => type)).toEqual(['device.removed']);
    }
  });

  it('does nothing if another number matches, or if the filter says nothing', async () => {
    const { registry } = fixture.hub;
    const ids = await enrolled(2, 'doubted');
    const remove = (filter: object, expectedCount: number) =>
      provisioning.many.remove({ filter, expectedCount }, ['input'], admin);
    expect(await remove({ tags: ['doubted'] }, 1)).toMatchObject({
      refusal: { code: 'CONFLICT', path: ['input', 'expectedCount'] },
    });
    expect(await remove({}, 2)).toMatchObject({ refusal: { code: 'INVALID', path: ['input', 'filter'] } });
    expect(await remove({ groupId: randomUUID() }, 0)).toMatchObject({ refusal: { code: 'NOT_FOUND' } });
    expect((await registry.devices.findMany(ids)).every((device) => device !== undefined)).toBe(true);
  });

  it('is limited to the access scope of the caller', async () => {
    const ids = await enrolled(2, 'mine');
    const scoped = { ...admin, devices: { ids: ids.slice(0, 1) } };
    const request = { filter: { tags: ['mine'] }, expectedCount: 1 };
    expect(await provisioning.many.remove(request, ['input'], scoped)).toEqual({ removedCount: 1 });
    expect(await fixture.hub.registry.devices.find(ids[1] ?? '')).toBeDefined();
  });
});

describe('the transport of many devices', () => {
  it('changes for those that have another one, and gives new secrets where the old ones are used', async () => {
    const { registry } = fixture.hub;
    const [fresh = '', used = '', already = ''] = await enrolled(3, 'moved');
    const known = await registry.credentials.findKnown(used);
    const { mqttClientId, mqttUsername, secret } = known?.credential ?? {};
    const login = { clientId: mqttClientId ?? '', username: mqttUsername ?? '', password: Buffer.from(secret ?? '') };
    await registry.credentials.setTransport(already, 'WEBSOCKET');
    const before = await registry.credentials.findKnown(fresh);
    const dialled = { deviceId: 'dialled-many', tags: ['moved'], dialect: 'MCPU', address: '192.0.2.8:3000' } as const;
    await provisioning.registerDevices([dialled], ['input'], { ...admin, isAdmin: true });
    const request = { filter: { tags: ['moved'] }, expectedCount: 4, transport: 'WEBSOCKET' } as const;
    // The use is written after the login: the change waits for that.
    expect((await registry.credentials.checkMqtt(login)).kind).toBe('granted');
    expect(await provisioning.many.setTransport(request, ['input'], admin)).toEqual({
      changedCount: 2,
      matchedCount: 4,
    });
    for (const id of [fresh, used, already])
      expect((await registry.credentials.findKnown(id))?.transport).toBe('WEBSOCKET');
    expect((await registry.credentials.findKnown(fresh))?.credential.secret).toBe(before?.credential.secret);
    const renewed = (await registry.credentials.findKnown(used))?.credential.secret;
    expect(renewed).toEqual(expect.any(String));
    expect(renewed).not.toBe(secret);
    expect(await registry.credentials.isDialled('dialled-many')).toBe(true);
    // A second time nothing is left to change.
    expect(await provisioning.many.setTransport(request, ['input'], admin)).toMatchObject({ changedCount: 0 });
  });
});
