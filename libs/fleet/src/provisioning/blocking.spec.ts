import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { admin, openHub, realClock, silent } from '../fleet-fixture.suite.js';
import type { HubFixture } from '../fleet-fixture.suite.js';
import { Provisioning } from './provisioning.js';
import { parseBlock } from './refuse-block.js';

let fixture: HubFixture;
let provisioning: Provisioning;

beforeAll(async () => {
  fixture = await openHub({ withWorker: false });
  const { registry, bus } = fixture.hub;
  provisioning = new Provisioning({ registry, bus, clock: realClock, logger: silent });
});
afterAll(() => fixture.close());

const dayMs = 86_400_000;

describe('the block of a board', () => {
  it('needs a MAC address, in any notation, and an end in the future', () => {
    const now = Date.now();
    expect(parseBlock({ deviceId: '02:EE:01:00:00:01' }, now)).toEqual({ deviceId: '02:ee:01:00:00:01' });
    expect(parseBlock({ deviceId: 'greenhouse-7' }, now)).toMatchObject({
      refusal: { code: 'INVALID', path: ['deviceId'] },
    });
    fc.assert(
      fc.property(fc.integer({ min: -10 * dayMs, max: 10_000 * dayMs }), (ms) => {
        const parsed = parseBlock({ deviceId: '02:ee:01:00:00:01', until: now + ms }, now);
        expect('deviceId' in parsed).toBe(ms > 0 && ms <= 3_660 * dayMs);
      }),
    );
  });

  it('is recorded with its end, in the audit trail and as an event, and so is its end, in any notation', async () => {
    const { registry } = fixture.hub;
    const deviceId = '02:ee:01:00:00:02';
    const until = Date.now() + dayMs;
    expect(await provisioning.blockBoard({ deviceId, until }, admin)).toMatchObject({
      board: { deviceId, blockedBy: 'admin', blockedUntil: until },
    });
    expect(await provisioning.unblockBoard('02-EE-01-00-00-02', admin)).toEqual({ deviceId });
    expect(await provisioning.unblockBoard(deviceId, admin)).toMatchObject({ refusal: { code: 'NOT_FOUND' } });
    const events = async () =>
      (await registry.events.page({ deviceId: deviceId as never }, 'AT_ASC', { first: 5 })).rows;
    await expect.poll(async () => (await events()).length).toBe(2);
    expect((await events()).map(({ type, data }) => ({ type, data }))).toEqual([
      { type: 'board.blocked', data: { actor: 'admin', until: new Date(until).toISOString() } },
      { type: 'board.unblocked', data: { actor: 'admin' } },
    ]);
    const { rows } = await registry.audit.page({ subject: `device:${deviceId}` }, { first: 5 });
    expect(rows.map(({ action }) => action).sort()).toEqual(['board.blocked', 'board.unblocked']);
  });
});

describe('the check of a registration', () => {
  it('reports every problem, and registers nothing', async () => {
    const { registry } = fixture.hub;
    const xiaozhi = { tags: [], dialect: 'XIAOZHI' } as const;
    const known = '02:ee:02:00:00:01';
    await provisioning.registerDevices([{ ...xiaozhi, deviceId: known }], ['input'], admin);
    const found = await provisioning.previewRegistration(
      [
        { ...xiaozhi, deviceId: '02:ee:02:00:00:02' },
        { ...xiaozhi, deviceId: 'nonsense' },
        { ...xiaozhi, deviceId: known },
        { ...xiaozhi, deviceId: '02:EE:02:00:00:02' },
        { ...xiaozhi, deviceId: '02:ee:02:00:00:03', clientId: 'short' },
      ],
      ['input'],
      admin,
    );
    expect(found.map(({ code, path }) => `${code} ${path.join('.')}`).sort()).toEqual([
      'CONFLICT input.2.deviceId',
      'CONFLICT input.3.deviceId',
      'INVALID input.1.deviceId',
      'INVALID input.4.clientId',
    ]);
    expect(await registry.devices.find('02:ee:02:00:00:02')).toBeUndefined();
    expect(await provisioning.previewRegistration([], ['input'], admin)).toMatchObject([{ path: ['input'] }]);
  });
});
