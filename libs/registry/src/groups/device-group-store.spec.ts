import type { DeviceId } from '@flotilla/mcp';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DeviceFilter, DeviceGroupRow, ResolvedFilter, Registry } from '../index.js';
import { openRegistry } from '../index.js';
import { createJob, newJob } from '../jobs/new-job.suite.js';
import { openTestDatabase } from '../test-database.js';
import type { TestDatabase } from '../test-database.js';

let database: TestDatabase;
let registry: Registry;
/** Another process on the same database. */
let other: Registry;

beforeAll(async () => {
  database = await openTestDatabase();
  registry = await openRegistry({ databaseUrl: database.databaseUrl });
  other = await openRegistry({ databaseUrl: database.databaseUrl });
  const device = { name: undefined, dialect: 'XIAOZHI', transport: 'MQTT' } as const;
  await registry.enrolments.register(
    ['a', 'b', 'c', 'd'].map((id, index) => ({ ...device, deviceId: id as DeviceId, tags: index < 2 ? ['shop'] : [] })),
  );
});
afterAll(async () => {
  await Promise.all([registry.close(), other.close()]);
  await database.close();
});

const how = () => ({ groupsMax: 20, at: Date.now(), by: { actor: 'admin' } });
const shop: ResolvedFilter = { tags: ['shop'] };

async function created(
  name: string,
  filter: ResolvedFilter,
  timeZone?: string,
  voiceUrls: readonly string[] = [],
): Promise<DeviceGroupRow> {
  const answer = await registry.deviceGroups.create({ name, filter, timeZone, voiceUrls }, how());
  if (answer.kind !== 'saved') throw new Error(answer.kind);
  return answer.group;
}
const removed = (group: DeviceGroupRow): Promise<boolean> => registry.deviceGroups.remove(group.id, how());
const idsOf = async (filter: DeviceFilter): Promise<readonly string[]> =>
  (await registry.devices.page(filter, 'ID_ASC', { first: 10 })).rows.map(({ id }) => id);

describe('device groups', () => {
  it('are saved filters: who is in them is asked each time', async () => {
    const group = await created('Shops', shop);
    expect(await registry.deviceGroups.findMany([group.id.toUpperCase(), 'x'])).toEqual([group, undefined]);
    expect(await idsOf({ groupId: group.id })).toEqual(['a', 'b']);
    expect(await idsOf({ not: { groupId: group.id } })).toEqual(['c', 'd']);
    expect(await idsOf({ any: [{ groupId: group.id, ids: ['b'] }, { ids: ['d'] }] })).toEqual(['b', 'd']);
    expect(await registry.devices.count({ groupId: group.id })).toBe(2);
    expect(await registry.targetPreparation.countDevices({ groupId: group.id }, 10)).toBe(2);
    await registry.devices.update('c', { tags: ['shop'] });
    expect(await idsOf({ groupId: group.id })).toEqual(['a', 'b', 'c']);
    expect(await registry.deviceGroups.deviceCounts([group, group])).toEqual([3, 3]);
    const tagged = await registry.devices.tag({ groupId: group.id }, { add: ['open'], remove: [], tagsMax: 9 });
    expect(tagged).toMatchObject({ ids: ['a', 'b', 'c'] });
    await registry.devices.update('c', { tags: [] });
    expect(await registry.deviceGroups.groupsOf(['d', 'a', 'x'])).toEqual([[], [group], []]);
    await removed(group);
  });

  it('give voice servers to devices without any, those of the first group by name', async () => {
    const silent = await created('A', shop);
    const first = await created('B', shop, undefined, ['ws://first.example/', 'ws://second.example/']);
    const later = await created('C', shop, undefined, ['ws://later.example/']);
    const urlsOf = (id: string) => registry.deviceGroups.voiceUrlsOf(id);
    expect(await urlsOf('a')).toEqual(['ws://first.example/', 'ws://second.example/']);
    expect([await urlsOf('d'), await urlsOf('no-device')]).toEqual([[], []]);
    await registry.devices.update('a', { voiceUrls: ['wss://own.example/?key=1'] }, { actor: 'admin' });
    expect(await urlsOf('a')).toEqual(['wss://own.example/?key=1']);
    const [entry] = (await registry.audit.page({ subject: 'device:a' }, { first: 1 })).rows;
    expect(entry?.data).toEqual({ voiceUrls: ['wss://own.example/?***'] });
    await registry.devices.update('a', { voiceUrls: [] });
    await removed(first);
    expect(await urlsOf('a')).toEqual(['ws://later.example/']);
    await Promise.all([silent, later].map(removed));
  });

  it('cause an error once removed, so that the complement of a removed group is not the whole fleet', async () => {
    const group = await created('Gone', shop);
    await removed(group);
    expect(await removed(group)).toBe(false);
    for (const groupId of [group.id, 'no uuid'])
      await expect(registry.devices.count({ not: { groupId } })).rejects.toMatchObject({ code: 'ARGUMENT_INVALID' });
    const eleven = Array.from({ length: 11 }, () => ({ groupId: group.id }));
    await expect(registry.devices.count({ any: eleven })).rejects.toThrow('at most 10 groups');
  });

  it('have unique names and a maximum number', async () => {
    const [one, two] = [await created('One', shop), await created('Two', shop)];
    expect(
      await registry.deviceGroups.create({ name: 'One', filter: shop, timeZone: undefined, voiceUrls: [] }, how()),
    ).toEqual({
      kind: 'NAME_TAKEN',
    });
    expect(await registry.deviceGroups.update({ ...two, name: 'One' }, how())).toEqual({ kind: 'NAME_TAKEN' });
    expect(await registry.deviceGroups.update({ ...two, filter: { ids: ['d'] } }, how())).toMatchObject({
      kind: 'saved',
    });
    expect(await idsOf({ groupId: two.id })).toEqual(['d']);
    const full = await registry.deviceGroups.create(
      { name: 'Three', filter: shop, timeZone: undefined, voiceUrls: [] },
      { ...how(), groupsMax: 2 },
    );
    expect(full).toEqual({ kind: 'FULL' });
    const invalid = await registry.deviceGroups.create(
      { name: 'Four', filter: { model: 'a\0' }, timeZone: undefined, voiceUrls: [] },
      how(),
    );
    expect(invalid).toEqual({ kind: 'FILTER_INVALID' });
    const first = await registry.deviceGroups.page({ first: 1 });
    const rest = await registry.deviceGroups.page({ first: 5, after: first.cursors[0] ?? '' });
    const found = await registry.deviceGroups.page({ first: 5 }, { search: (first.rows[0]?.name ?? '').toLowerCase() });
    expect(found.rows).toEqual(first.rows);
    expect((await registry.deviceGroups.page({ first: 5 }, { search: '%' })).rows).toEqual([]);
    expect([first.rows[0]?.name, first.hasNextPage, rest.rows.map(({ name }) => name), rest.hasNextPage]).toEqual([
      'One',
      true,
      ['Two'],
      false,
    ]);
    await Promise.all([removed(one), removed(two)]);
  });

  it('are on the audit trail with what they were', async () => {
    const group = await created('Audited', shop, 'Asia/Tokyo');
    await removed(group);
    const { rows } = await registry.audit.page({ subject: `group:${group.id}` }, { first: 5 });
    expect(rows.map(({ action, actor }) => [action, actor])).toEqual([
      ['group.deleted', 'admin'],
      ['group.created', 'admin'],
    ]);
    expect(rows[1]?.data).toEqual({
      name: 'Audited',
      filter: { tags: ['shop'] },
      timeZone: 'Asia/Tokyo',
      voiceUrls: [],
    });
  });
});

describe('the zone of a device’s clock', () => {
  /** As each process answers, once it has heard of what the other did. */
  const zoneIs = async (id: string, zone: string | undefined): Promise<void> => {
    for (const each of [registry, other])
      await expect.poll(async () => (await each.credentials.findKnown(id))?.timeZone, { timeout: 10_000 }).toBe(zone);
  };

  it(
    'is its own, or of the first of its groups that has one, and follows what changes',
    { timeout: 60_000 },
    async () => {
      await zoneIs('a', undefined);
      const [b, a, none] = [
        await created('B', shop, 'Asia/Tokyo'),
        await created('A', { ids: ['a'] }, 'Europe/Paris'),
        await created('0', shop),
      ];
      await zoneIs('a', 'Europe/Paris');
      await zoneIs('b', 'Asia/Tokyo');
      await registry.devices.update('b', { timeZone: 'Europe/Oslo' });
      await zoneIs('b', 'Europe/Oslo');
      expect(await registry.devices.find('b')).toMatchObject({ timeZone: 'Europe/Oslo' });
      await registry.devices.update('b', { timeZone: null });
      await zoneIs('b', 'Asia/Tokyo');
      await registry.devices.tag({ ids: ['d'] }, { add: ['shop'], remove: [], tagsMax: 9 });
      await zoneIs('d', 'Asia/Tokyo');
      await registry.deviceGroups.update({ ...b, filter: { ids: ['c'] } }, how());
      await zoneIs('d', undefined);
      await zoneIs('c', 'Asia/Tokyo');
      await Promise.all([a, b, none].map(removed));
      await zoneIs('c', undefined);
      await zoneIs('a', undefined);
    },
  );

  it('is remembered for every known device after a gateway has begun', async () => {
    const group = await created('All', { all: true }, 'Asia/Seoul');
    const known = await (await openAgain()).allKnown();
    expect(known.map(({ timeZone }) => timeZone)).toEqual(Array(4).fill('Asia/Seoul'));
    await removed(group);
  });

  it('comes with the answer that admits a device', async () => {
    const group = await created('New ones', { search: 'new' }, 'Asia/Dubai');
    const contact = {
      deviceId: 'new-1' as DeviceId,
      clientUuid: 'u',
      model: 'm',
      firmwareVersion: '1',
      remoteAddress: undefined,
      at: Date.now(),
    };
    expect(await registry.enrolments.admit(contact)).toMatchObject({ timeZone: 'Asia/Dubai' });
    await removed(group);
  });

  async function openAgain(): Promise<Registry['credentials']> {
    await other.close();
    other = await openRegistry({ databaseUrl: database.databaseUrl });
    return other.credentials;
  }
});

describe('a job over a group', () => {
  it('keeps the devices that the group selected when the job was created', async () => {
    const group = await created('Jobbed', shop);
    const made = await createJob(registry.jobCommands, newJob({ devices: { not: { groupId: group.id } } }));
    if (made.kind !== 'created') throw new Error(made.kind);
    await removed(group);
    const [row] = await sql<{ devices: ResolvedFilter }>(`SELECT devices FROM job WHERE id = '${made.job.id}'`);
    expect(row?.devices).toEqual({ not: { within: shop } });
    expect(await idsOf(row?.devices ?? {})).toEqual(['c', 'new-1']);
  });
});

async function sql<Row extends pg.QueryResultRow>(text: string): Promise<readonly Row[]> {
  const client = new pg.Client({ connectionString: database.databaseUrl });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}
