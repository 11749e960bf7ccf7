import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admitted, logIn, newContact, openProvisioning } from '../provisioning-fixture.suite.js';
import type { ProvisioningFixture } from '../provisioning-fixture.suite.js';
import type { OtaContact } from '../provisioning.js';
import { FIRST_CLIENT_MS } from './change-moving.js';

let fixture: ProvisioningFixture;

beforeAll(async () => {
  fixture = await openProvisioning();
});
afterAll(() => fixture.close());

/** The board asked the former server, which answered. */
async function passed(contact: OtaContact, bound = true): Promise<void> {
  await fixture.registry.movingBoards.notePassed({ ...contact, answer: { bound }, mayBeAdded: true });
}

async function boardOf({ deviceId }: OtaContact) {
  const { rows } = await fixture.registry.movingBoards.page({ first: 1_000 });
  return rows.find((row) => row.deviceId === deviceId);
}

describe('a board that asked its former server', () => {
  it('is listed with what that server said last', async () => {
    const contact = newContact();
    expect(await fixture.registry.movingBoards.routeOf(contact.deviceId)).toBeUndefined();
    await passed(contact, false);
    await passed(contact, true);
    await fixture.registry.movingBoards.notePassed({
      ...contact,
      firmwareVersion: '2.5.0',
      answer: undefined,
      mayBeAdded: true,
    });
    expect(await boardOf(contact)).toMatchObject({
      state: 'NOT_MOVED',
      isHere: false,
      boundThere: true,
      model: 'lichuang-dev',
      firmwareVersion: '2.5.0',
      askedAt: contact.at,
      answeredAt: contact.at,
      otherClientAt: undefined,
    });
    await fixture.registry.movingBoards.notePassed({ ...contact, answer: { bound: undefined }, mayBeAdded: true });
    expect((await boardOf(contact))?.boundThere).toBeUndefined();
  });

  it('is admitted after its move, by the Client-Id that asked first and by no other', async () => {
    const { enrolments, movingBoards } = fixture.registry;
    const contact = newContact();
    const impostor = newContact({ deviceId: contact.deviceId });
    await passed(contact);
    await passed(impostor);
    expect((await boardOf(contact))?.otherClientAt).toBe(impostor.at);
    expect(await enrolments.admitMoved(contact)).toBeUndefined();
    expect(await movingBoards.move([contact.deviceId], 'operator')).toMatchObject({
      kind: 'changed',
      changed: [contact.deviceId],
      boards: [{ state: 'MOVED', isHere: false, movedBy: 'operator' }],
    });
    expect(await enrolments.admitMoved(impostor)).toBeUndefined();
    const known = await enrolments.admitMoved(contact);
    expect(known?.credential.secret).toBeDefined();
    expect(await boardOf(contact)).toMatchObject({ state: 'MOVED', isHere: true });
  });

  it('keeps the name and the tags of its registration', async () => {
    const { devices, enrolments, movingBoards } = fixture.registry;
    const contact = newContact();
    const { deviceId } = contact;
    await enrolments.register([{ deviceId, name: 'Hall', tags: ['floor-1'], dialect: 'XIAOZHI', transport: 'MQTT' }]);
    await passed(contact);
    expect((await boardOf(contact))?.state).toBe('NOT_MOVED');
    await movingBoards.move([deviceId], 'operator');
    await enrolments.admitMoved(contact);
    expect(await devices.find(deviceId)).toMatchObject({ name: 'Hall', tags: ['floor-1'] });
  });

  it('is not admitted while it is blocked, or if it was removed after its move', async () => {
    const { enrolments, movingBoards } = fixture.registry;
    const [blocked, removed] = [newContact(), newContact()];
    for (const contact of [blocked, removed]) await passed(contact);
    await movingBoards.move([blocked.deviceId, removed.deviceId], 'operator');
    const block = { deviceId: blocked.deviceId, blockedBy: 'operator', blockedAt: Date.now(), blockedUntil: undefined };
    await enrolments.block(block);
    expect(await enrolments.admitMoved(blocked)).toBeUndefined();
    await enrolments.admitMoved(removed);
    await enrolments.remove(removed.deviceId);
    expect(await enrolments.admitMoved(removed)).toBeUndefined();
    expect(await movingBoards.move([removed.deviceId], 'operator')).toMatchObject({ changed: [removed.deviceId] });
    expect(await enrolments.admitMoved(removed)).toBeDefined();
    expect(await movingBoards.move([removed.deviceId], 'operator')).toMatchObject({ changed: [] });
  });
});

describe('a board of an import', () => {
  it('is unknown until it asks, and its first Client-Id is admitted for a week after its move', async () => {
    const { enrolments, movingBoards } = fixture.registry;
    const contact = newContact();
    const former = { deviceId: contact.deviceId, name: 'Lobby', agent: 'Guide', user: 'anna' };
    expect(await movingBoards.add([former, former])).toEqual([contact.deviceId]);
    expect(await boardOf(contact)).toMatchObject({
      state: 'UNKNOWN',
      formerName: 'Lobby',
      formerAgent: 'Guide',
      formerUser: 'anna',
      askedAt: undefined,
    });
    await movingBoards.move([contact.deviceId], 'operator');
    expect(await enrolments.admitMoved({ ...contact, at: Date.now() + FIRST_CLIENT_MS + 60_000 })).toBeUndefined();
    expect(await enrolments.admitMoved(contact)).toBeDefined();
  });

  it('may be moved again if it did not come within that week', async () => {
    const { enrolments, movingBoards } = fixture.registry;
    const contact = newContact();
    const { deviceId } = contact;
    await movingBoards.add([{ deviceId, name: undefined, agent: undefined, user: undefined }]);
    await movingBoards.move([deviceId], 'operator');
    expect(await movingBoards.move([deviceId], 'operator')).toMatchObject({ changed: [] });
    await fixture.sql(`UPDATE moving_board SET moved_at = now() - interval '8 days' WHERE device_id = '${deviceId}'`);
    expect(await enrolments.admitMoved(contact)).toBeUndefined();
    expect(await movingBoards.move([deviceId], 'operator')).toMatchObject({ changed: [deviceId] });
    expect(await enrolments.admitMoved(contact)).toBeDefined();
  });

  it('is not moved if one of the selection is not listed', async () => {
    const contact = newContact();
    await passed(contact);
    const answer = await fixture.registry.movingBoards.move([contact.deviceId, '02:00:00:00:00:99'], 'operator');
    expect(answer).toEqual({ kind: 'missing', deviceId: '02:00:00:00:00:99' });
    expect((await boardOf(contact))?.state).toBe('NOT_MOVED');
  });
});

describe('a board that goes back', () => {
  it('keeps its credential until the former server has answered it, and then it is void in all processes', async () => {
    const { other, registry } = fixture;
    const { enrolments, movingBoards } = registry;
    const contact = newContact();
    await passed(contact);
    await movingBoards.move([contact.deviceId], 'operator');
    const known = await enrolments.admitMoved(contact);
    if (known === undefined) throw new TypeError('The board was not admitted.');
    expect((await logIn(registry, known)).kind).toBe('granted');
    await movingBoards.moveBack([contact.deviceId]);
    expect(await boardOf(contact)).toMatchObject({ state: 'NOT_MOVED', isHere: true });
    expect((await logIn(registry, known)).kind).toBe('granted');
    expect(await movingBoards.noteAttempt(contact.deviceId)).toBe(false);
    expect(await movingBoards.release(contact.deviceId, '192.0.2.44')).toBe(true);
    expect(await movingBoards.release(contact.deviceId, '192.0.2.44')).toBe(false);
    for (const process of [registry, other])
      await expect.poll(async () => (await logIn(process, known)).kind).toBe('refused');
    expect((await registry.credentials.recognise(contact)).kind).toBe('unproven');
    expect(await movingBoards.noteAttempt(contact.deviceId)).toBe(true);
    const board = await boardOf(contact);
    expect(board).toMatchObject({ state: 'NOT_MOVED', isHere: false });
    expect(board?.attemptedAt).toBeDefined();
  });

  it('may come again', async () => {
    const { enrolments, movingBoards } = fixture.registry;
    const contact = newContact();
    await passed(contact);
    for (let round = 0; round < 2; round += 1) {
      await movingBoards.move([contact.deviceId], 'operator');
      expect((await enrolments.admitMoved(contact))?.credential.secret).toBeDefined();
      await movingBoards.moveBack([contact.deviceId]);
      expect(await movingBoards.release(contact.deviceId, undefined)).toBe(true);
    }
  });
});

describe('the list of moving boards', () => {
  it('has pages by state, and counts that a device of another way here changes', async () => {
    const own = await openProvisioning();
    try {
      const { movingBoards } = own.registry;
      const contacts = Array.from({ length: 5 }, () => newContact());
      for (const contact of contacts)
        await movingBoards.notePassed({ ...contact, answer: undefined, mayBeAdded: true });
      const [first] = contacts;
      if (first) await admitted(own.registry, first);
      await movingBoards.add([{ deviceId: newContact().deviceId, name: undefined, agent: undefined, user: undefined }]);
      expect(await movingBoards.counts()).toEqual({ moved: 1, notMoved: 4, unknown: 1 });
      const pageOne = await movingBoards.page({ first: 3, state: 'NOT_MOVED' });
      const after = pageOne.cursors.at(-1) ?? '';
      const pageTwo = await movingBoards.page({ first: 3, state: 'NOT_MOVED', after });
      expect([pageOne.hasNextPage, pageTwo.hasNextPage]).toEqual([true, false]);
      expect([...pageOne.rows, ...pageTwo.rows].map(({ deviceId }) => deviceId)).toEqual(
        contacts.slice(1).map(({ deviceId }) => deviceId),
      );
    } finally {
      await own.close();
    }
  });
});
