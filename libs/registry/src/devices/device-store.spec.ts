import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DeviceFilter, Registry } from '../index.js';
import { AT, connecting, openDeviceFixture, SET_A, SET_B, type DeviceFixture } from './device-fixture.suite.js';

let fixture: DeviceFixture;
let registry: Registry;

beforeAll(async () => {
  fixture = await openDeviceFixture();
  ({ registry } = fixture);
});
afterAll(() => fixture.close());

async function idsOf(filter: DeviceFilter): Promise<readonly string[]> {
  return (await registry.devices.page(filter, 'ID_ASC', { first: 100 })).rows.map((row) => row.id);
}

describe('lists of devices', () => {
  beforeAll(async () => {
    for (const [id, version] of [
      ['list-1', '1.9.0'],
      ['list-2', '1.10.0'],
      ['list-3', '2.0'],
      ['list-4', 'v1'],
    ] as const) {
      await fixture.comeOnline(id, id === 'list-3' ? SET_B : SET_A, version);
    }
    await registry.devices.connect(connecting('list-5'));
    await registry.devices.update('list-1', { name: 'Küche', tags: ['kitchen', 'lamp'] });
    await registry.devices.update('list-2', { name: 'z 50%_b', tags: ['lamp'] });
  });

  const listed = (filter: DeviceFilter) =>
    idsOf({ ...filter, ids: ['list-1', 'list-2', 'list-3', 'list-4', 'list-5'] });

  it.each<[string, DeviceFilter, readonly string[]]>([
    ['all tags', { tags: ['lamp', 'kitchen'] }, ['list-1']],
    ['dotted versions as numbers', { firmwareBefore: '1.10' }, ['list-1', 'list-4']],
    ['the exact version', { firmwareVersion: '2.0' }, ['list-3']],
    ['presence', { presence: 'OFFLINE' }, ['list-5']],
    ['a tool', { hasTool: 'lamp.blink' }, ['list-3']],
    ['part of a name in any case', { search: 'KÜCH' }, ['list-1']],
    ['part of an id', { search: 'IST-2' }, ['list-2']],
    ['no wildcards in a search', { search: '50%_' }, ['list-2']],
    ['nothing for a wildcard alone', { search: '_' }, ['list-2']],
    ['any of several', { any: [{ tags: ['kitchen'] }, { hasTool: 'lamp.blink' }] }, ['list-1', 'list-3']],
    ['none of none', { any: [] }, []],
    [
      'the full complement, unknown values included',
      { not: { firmwareBefore: '1.10' } },
      ['list-2', 'list-3', 'list-5'],
    ],
    ['offline ones last seen before', { lastSeenBefore: AT + 1_000 }, ['list-5']],
    ['a transport that no device has', { transport: 'TCP' }, []],
    ['model and dialect', { model: 'board', dialect: 'XIAOZHI' }, ['list-1', 'list-2', 'list-3', 'list-4']],
    ['stale tools', { toolsStale: true }, []],
  ])('finds devices by %s', async (_, filter, expected) => {
    expect(await listed(filter)).toEqual(expected);
  });

  it.each([
    ['a capital I with a dot', 'İstanbul 1', 'İSTANBUL'],
    ['a sigma that ends a word', 'ΟΔΟΣ 7', 'ΟΔΟΣ'],
    ['a sigma that ends what was typed', 'οδοσήμανση', 'ΟΔΟΣ'],
  ])('finds a name with %s, which JavaScript and PostgreSQL write differently', async (_, name, search) => {
    await registry.devices.update('list-5', { name });
    const found = await listed({ search });
    await registry.devices.update('list-5', { name: null });
    expect(found).toEqual(['list-5']);
  });

  it('pages through every order without losing or repeating a device', async () => {
    for (const order of ['ID_ASC', 'NAME_ASC', 'LAST_SEEN_DESC'] as const) {
      const seen: string[] = [];
      let after: string | undefined;
      for (;;) {
        const page = await registry.devices.page({ search: 'list-' }, order, {
          first: 2,
          ...(after === undefined ? {} : { after }),
        });
        seen.push(...page.rows.map((row) => row.id));
        after = page.cursors.at(-1);
        if (!page.hasNextPage) break;
      }
      expect([...seen].sort(), order).toEqual(['list-1', 'list-2', 'list-3', 'list-4', 'list-5']);
      if (order === 'NAME_ASC')
        expect(seen.slice(2), 'devices without a name come last').toEqual(['list-3', 'list-4', 'list-5']);
    }
  });

  it('refuses invented cursors that PostgreSQL cannot read', async () => {
    const cursorOf = (...key: unknown[]) => Buffer.from(JSON.stringify(key)).toString('base64url');
    const refusal = { code: 'ARGUMENT_INVALID' };
    for (const time of ['0000-01-01T00:00:00.000Z', `2026-01-01T00:00:00.${'1'.repeat(100)}Z`]) {
      const request = { first: 1, after: cursorOf('devices LAST_SEEN_DESC', 1, time, 'a') };
      await expect(registry.devices.page(undefined, 'LAST_SEEN_DESC', request)).rejects.toMatchObject(refusal);
    }
    for (const time of [-8.64e15, 1e300, 0.5]) {
      const request = { first: 1, after: cursorOf('blocked_boards', time, 'a') };
      await expect(registry.enrolments.blockedPage(request)).rejects.toMatchObject(refusal);
    }
  });

  it('refuses cursors of other lists and page sizes that make no sense', async () => {
    const { cursors } = await registry.devices.page(undefined, 'ID_ASC', { first: 1 });
    const after = cursors[0] ?? '';
    await expect(registry.devices.page(undefined, 'NAME_ASC', { first: 1, after })).rejects.toMatchObject({
      code: 'ARGUMENT_INVALID',
    });
    await expect(registry.devices.page(undefined, 'ID_ASC', { first: 1, after: 'nonsense' })).rejects.toMatchObject({
      code: 'ARGUMENT_INVALID',
    });
    await expect(registry.devices.page(undefined, 'ID_ASC', { first: -1 })).rejects.toMatchObject({
      code: 'ARGUMENT_INVALID',
    });
  });

  it('changes the tags of matching devices, and of no device without a condition', async () => {
    const add = (tag: string) => ({ add: [tag], remove: [], tagsMax: 3 });
    const swapped = await registry.devices.tag(
      { ids: ['list-1', 'list-3'] },
      { add: ['new'], remove: ['lamp'], tagsMax: 3 },
    );
    expect(swapped).toMatchObject({ kind: 'changed', ids: expect.arrayContaining(['list-1', 'list-3']) });
    expect((await registry.devices.find('list-1'))?.tags).toEqual(['kitchen', 'new']);
    expect(await registry.devices.tag({}, add('x'))).toEqual({ kind: 'changed', ids: [] });
    expect(await registry.devices.tag({ any: [{}, { ids: ['list-1'] }] }, add('x'))).toEqual({
      kind: 'changed',
      ids: ['list-1'],
    });
    expect(await registry.devices.tag({ not: {} }, add('y'))).toEqual({ kind: 'changed', ids: [] });
  });

  it('changes no device where one has no room for another tag', async () => {
    const full = { ids: ['list-1', 'list-4'] };
    expect(await registry.devices.tag(full, { add: ['one-more'], remove: [], tagsMax: 3 })).toEqual({
      kind: 'full',
      id: 'list-1',
    });
    expect((await registry.devices.find('list-4'))?.tags).toEqual([]);
    const replaced = await registry.devices.tag(full, { add: ['one-more'], remove: ['x'], tagsMax: 3 });
    expect(replaced).toMatchObject({ kind: 'changed', ids: expect.arrayContaining(['list-1', 'list-4']) });
  });

  it('shows distinct tools of the fleet by name', async () => {
    const devices = { ids: ['list-1', 'list-3'] };
    const first = await registry.toolSets.pageOfTools({ devices }, { first: 3 });
    expect(first.rows.map(({ name, deviceCount, schemaKnown }) => [name, deviceCount, schemaKnown])).toEqual([
      ['hub.alert', 2, true],
      ['hub.identify', 2, true],
      ['lamp.blink', 1, false],
    ]);
    const rest = await registry.toolSets.pageOfTools({ devices }, { first: 10, after: first.cursors[2] ?? '' });
    expect(rest.rows.map(({ name, deviceCount }) => [name, deviceCount])).toEqual([
      ['lamp.off', 1],
      ['lamp.on', 2],
    ]);
  });

  it('finds a named tool as soon as a device has it, also after a count without it', async () => {
    const devices = { ids: ['list-1', 'list-2', 'list-5'] };
    const named = async (): Promise<readonly number[]> =>
      (await registry.toolSets.pageOfTools({ devices, name: 'lamp.blink' }, { first: 3 })).rows.map(
        ({ deviceCount }) => deviceCount,
      );
    expect(await named()).toEqual([]);
    await fixture.comeOnline('list-5', SET_B, '2.0');
    expect(await named()).toEqual([1]);
  });
});
