import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admin, openHub, realClock } from '../fleet-fixture.suite.js';
import type { HubFixture } from '../fleet-fixture.suite.js';
import { Moving } from './moving.js';

let fixture: HubFixture;
let moving: Moving;

beforeAll(async () => {
  fixture = await openHub({ withWorker: false });
  const { bus, registry } = fixture.hub;
  moving = new Moving({ registry, bus, clock: realClock, hasFormerServer: true });
});
afterAll(() => fixture.close());

const board = '02:ee:03:00:00:01';

describe('the move of boards', () => {
  it('is recorded in the audit trail and as an event, and so is the move back', async () => {
    const { registry } = fixture.hub;
    expect(await moving.add([{ deviceId: '02-EE-03-00-00-01', agent: 'Guide' }], admin)).toEqual({ addedCount: 1 });
    expect(await moving.move(['02-EE-03-00-00-01'], admin)).toMatchObject({ boards: [{ state: 'MOVED' }] });
    expect(await moving.summary()).toEqual({ moved: 1, notMoved: 0, unknown: 0, hasFormerServer: true });
    await moving.move([board], admin);
    expect(await moving.moveBack([board], admin)).toMatchObject({ boards: [{ state: 'UNKNOWN' }] });
    const events = async () => (await registry.events.page({ deviceId: board as never }, 'AT_ASC', { first: 5 })).rows;
    await expect
      .poll(async () => (await events()).map(({ type }) => type))
      .toEqual(['board.moved', 'board.moved_back']);
    const { rows } = await registry.audit.page({ subject: `device:${board}` }, { first: 5 });
    expect(rows.map(({ action, actor }) => `${actor} ${action}`).sort()).toEqual([
      'admin board.added',
      'admin board.moved',
      'admin board.moved_back',
    ]);
  });

  it('is refused for no board, too many, or one that is not listed', async () => {
    expect(await moving.move([], admin)).toMatchObject({ refusal: { code: 'INVALID', path: ['deviceIds'] } });
    const many = Array.from({ length: 501 }, (_none, index) => String(index));
    expect(await moving.moveBack(many, admin)).toMatchObject({ refusal: { code: 'LIMIT_EXCEEDED' } });
    expect(await moving.move([board, 'not\0listed'], admin)).toMatchObject({
      refusal: { code: 'NOT_FOUND', path: ['deviceIds', '0'] },
    });
    expect(await moving.move([board, '02-EE-03-00-00-02'], admin)).toMatchObject({
      refusal: { code: 'NOT_FOUND', path: ['deviceIds', '1'] },
    });
  });

  it('lists only boards with a MAC address and short names', async () => {
    expect(await moving.add([{ deviceId: 'greenhouse-7' }], admin)).toMatchObject({
      refusal: { code: 'INVALID', path: ['boards', '0', 'deviceId'] },
    });
    expect(await moving.add([{ deviceId: board, user: 'x'.repeat(129) }], admin)).toMatchObject({
      refusal: { code: 'LIMIT_EXCEEDED', path: ['boards', '0', 'user'] },
    });
  });
});
