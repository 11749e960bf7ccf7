import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newContact, openProvisioning } from '../provisioning-fixture.suite.js';
import type { ProvisioningFixture } from '../provisioning-fixture.suite.js';
import type { OtaContact } from '../provisioning.js';
import { MOVING_BOARDS_MAX } from './change-moving.js';

describe('a list of boards that strangers have filled', () => {
  let fixture: ProvisioningFixture;
  const longAgo = Date.now() - 86_400_000;
  const kept = {
    unbound: { ...newContact({ at: longAgo }), bound: false },
    bound: { ...newContact({ at: longAgo }), bound: true },
    imported: { ...newContact({ at: longAgo }), bound: false },
    registered: { ...newContact({ at: longAgo }), bound: false },
    moved: { ...newContact({ at: longAgo }), bound: false },
  };

  const passed = ({ bound, ...contact }: OtaContact & { readonly bound: boolean }, mayBeAdded = true) =>
    fixture.registry.movingBoards.notePassed({ ...contact, answer: { bound }, mayBeAdded });
  const isListed = async ({ deviceId }: Pick<OtaContact, 'deviceId'>) =>
    (await fixture.registry.movingBoards.routeOf(deviceId)) !== undefined;

  beforeAll(async () => {
    fixture = await openProvisioning();
    const { enrolments, movingBoards } = fixture.registry;
    for (const board of Object.values(kept)) expect(await passed(board)).toBe(true);
    for (const board of [kept.bound, kept.unbound]) expect(await passed({ ...board, at: longAgo + 1_000 })).toBe(false);
    const { deviceId } = kept.registered;
    await enrolments.register([{ deviceId, name: undefined, tags: [], dialect: 'XIAOZHI', transport: 'MQTT' }]);
    await movingBoards.add([{ deviceId: kept.imported.deviceId, name: 'Lobby', agent: undefined, user: undefined }]);
    await movingBoards.move([kept.moved.deviceId], 'operator');
    await fixture.sql(
      `INSERT INTO moving_board (device_id, client_uuid_hash, bound_there, answered_at, asked_at, added_at)
       SELECT 'invented-' || n, md5(n::text), false, t, t, t
       FROM generate_series(1, ${MOVING_BOARDS_MAX - 5}) n, (VALUES (now() - interval '1 hour')) AS x(t)`,
    );
  });
  afterAll(() => fixture.close());

  const total = async () => {
    const { moved, notMoved, unknown } = await fixture.registry.movingBoards.counts();
    return moved + notMoved + unknown;
  };

  it('takes a new board in place of one that asked once, and keeps those that the hub knows otherwise', async () => {
    const contact = newContact();
    expect(await passed({ ...contact, bound: true })).toBe(true);
    expect(await isListed(contact)).toBe(true);
    for (const board of Object.values(kept)) expect(await isListed(board)).toBe(true);
    expect(await total()).toBe(MOVING_BOARDS_MAX);
  });

  it('takes the boards of an import', async () => {
    const { deviceId } = newContact();
    const { movingBoards } = fixture.registry;
    expect(await movingBoards.add([{ deviceId, name: 'Hall', agent: undefined, user: undefined }])).toEqual([deviceId]);
    expect(await total()).toBe(MOVING_BOARDS_MAX);
  });

  it('takes no board of a network that has added too many, and still notes those that it has', async () => {
    const contact = newContact();
    expect(await passed({ ...contact, bound: true }, false)).toBe(false);
    expect(await isListed(contact)).toBe(false);
    await passed({ ...kept.imported, bound: true }, false);
    const { rows } = await fixture.registry.movingBoards.page({ first: 10 });
    expect(rows.find(({ deviceId }) => deviceId === kept.imported.deviceId)).toMatchObject({ boundThere: true });
  });

  it('takes those that asked again only when no others are left, and never those that are bound', async () => {
    await fixture.sql("UPDATE moving_board SET asked_at = now(), bound_there = true WHERE device_id LIKE 'invented-%'");
    expect(await passed({ ...newContact(), bound: false })).toBe(true);
    expect(await isListed(kept.unbound)).toBe(false);
    expect(await isListed(kept.bound)).toBe(true);
  });
});
