import type { DeviceId, ToolSetHash } from '@flotilla/mcp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ConnectingDevice, DeviceFilter, ProcessLease, Registry } from '../index.js';
import { openRegistry } from '../index.js';
import { openTestDatabase } from '../test-database.js';
import type { TestDatabase } from '../test-database.js';

const AT = Date.UTC(2026, 10, 21, 12);
const SET_A = 'a'.repeat(64) as ToolSetHash;
const SET_B = 'b'.repeat(64) as ToolSetHash;

let database: TestDatabase;
let registry: Registry;
let lease: ProcessLease;

beforeAll(async () => {
  database = await openTestDatabase();
  registry = await openRegistry({ databaseUrl: database.databaseUrl });
  lease = await registry.takeLease();
  const tool = { description: 'd', inputSchema: { type: 'object' }, userOnly: false, schemaKnown: true };
  await registry.toolSets.ensure({
    hash: SET_A,
    tools: [
      { ...tool, name: 'lamp.on' },
      { ...tool, name: 'lamp.off' },
    ],
  });
  await registry.toolSets.ensure({
    hash: SET_B,
    tools: [
      { ...tool, name: 'lamp.on', description: 'other' },
      { ...tool, name: 'lamp.blink' },
    ],
  });
});

afterAll(async () => {
  await registry.close();
  await database.close();
});

const arriving = (id: string, connectedAt = AT): ConnectingDevice => ({
  deviceId: id as DeviceId,
  dialect: 'XIAOZHI',
  transport: 'MQTT',
  reachability: 'ALWAYS',
  remoteAddress: '127.0.0.1:1',
  connectedAt,
});

const greeted = (
  id: string,
  epoch: number,
  toolSetHash: ToolSetHash | undefined = SET_A,
  firmwareVersion = '1.9.0',
  at = AT + 1,
) => ({
  deviceId: id as DeviceId,
  epoch,
  gatewayId: lease.id,
  model: 'board',
  firmwareVersion,
  toolSetHash,
  toolsComplete: true,
  at,
});

async function comeOnline(id: string, toolSetHash = SET_A, firmwareVersion = '1.9.0'): Promise<number> {
  const { epoch } = await registry.devices.connecting(arriving(id));
  await registry.devices.ready(greeted(id, epoch, toolSetHash, firmwareVersion));
  return epoch;
}

async function idsOf(filter: DeviceFilter): Promise<readonly string[]> {
  return (await registry.devices.page(filter, 'ID_ASC', { first: 100 })).rows.map((row) => row.id);
}

describe('sessions of devices', () => {
  it('makes a new device at its first connection and shows it online once it is ready', async () => {
    const { epoch } = await registry.devices.connecting(arriving('first'));
    expect(epoch).toBe(1);
    expect(await registry.devices.find('first')).toMatchObject({
      presence: 'OFFLINE',
      epoch: 1,
      connectedAt: undefined,
    });
    expect(await registry.devices.ready(greeted('first', epoch))).toEqual({
      isCurrent: true,
      previousToolSetHash: undefined,
      previousFirmwareVersion: undefined,
    });
    expect(await registry.devices.find('first')).toMatchObject({
      ...{
        presence: 'ONLINE',
        model: 'board',
        firmwareVersion: '1.9.0',
        toolSetHash: SET_A,
        toolsStale: false,
        connectedAt: AT,
      },
    });
  });

  it('gives each of several connections of one device in one moment its own epoch, in order', async () => {
    const opened = await Promise.all([1, 2, 3].map(() => registry.devices.connecting(arriving('thrice'))));
    expect(opened.map(({ epoch }) => epoch)).toEqual([1, 2, 3]);
    const [sessions] = await registry.devices.sessions(['thrice'], 10);
    expect(sessions?.map(({ epoch, closeReason }) => [epoch, closeReason])).toEqual([
      [3, undefined],
      [2, 'taken_over'],
      [1, 'taken_over'],
    ]);
  });

  it('lets writes of an older epoch change nothing', async () => {
    const old = await comeOnline('replaced');
    const epoch = await comeOnline('replaced');
    expect(
      await registry.devices.closed({
        deviceId: 'replaced' as DeviceId,
        epoch: old,
        reason: 'connection_lost',
        at: AT + 5,
      }),
    ).toBe(false);
    expect(await registry.devices.ready(greeted('replaced', old, SET_B))).toMatchObject({ isCurrent: false });
    expect(await registry.devices.find('replaced')).toMatchObject({ presence: 'ONLINE', epoch, toolSetHash: SET_A });
  });

  it('does not bring a device online whose session was closed before it was ready', async () => {
    const { epoch } = await registry.devices.connecting(arriving('hasty'));
    expect(
      await registry.devices.closed({ deviceId: 'hasty' as DeviceId, epoch, reason: 'connection_lost', at: AT + 1 }),
    ).toBe(true);
    expect(await registry.devices.ready(greeted('hasty', epoch))).toMatchObject({ isCurrent: false });
    expect(await registry.devices.find('hasty')).toMatchObject({ presence: 'OFFLINE' });
  });

  it('opens a session that is already ready with one write, which returns what it replaced', async () => {
    const open = (toolSetHash: ToolSetHash | undefined, firmwareVersion: string, at: number) =>
      registry.devices.connecting({
        ...arriving('quick'),
        ready: { ...greeted('quick', 0), toolSetHash, firmwareVersion, at },
      });
    const unknown = { previousToolSetHash: undefined, previousFirmwareVersion: undefined };
    expect(await open(SET_A, '1.9.0', AT + 1)).toEqual({ epoch: 1, ready: { isCurrent: true, ...unknown } });
    const online = { presence: 'ONLINE', model: 'board', connectedAt: AT, toolsStale: false } as const;
    const first = {
      ...online,
      epoch: 1,
      toolSetHash: SET_A,
      firmwareVersion: '1.9.0',
      lastSeenAt: AT + 1,
      toolsDiscoveredAt: AT + 1,
    };
    expect(await registry.devices.find('quick')).toMatchObject(first);
    const before = { previousToolSetHash: SET_A, previousFirmwareVersion: '1.9.0' };
    expect(await open(SET_B, '2.0', AT + 2)).toEqual({ epoch: 2, ready: { isCurrent: true, ...before } });
    const second = { ...online, epoch: 2, toolSetHash: SET_B, firmwareVersion: '2.0', toolsDiscoveredAt: AT + 2 };
    expect(await registry.devices.find('quick')).toMatchObject(second);
    expect((await open(undefined, '2.0', AT + 3)).ready).toMatchObject({ previousToolSetHash: SET_B });
    expect(await registry.devices.find('quick')).toMatchObject({
      toolSetHash: SET_B,
      toolsStale: true,
      toolsDiscoveredAt: AT + 2,
    });
    const [sessions] = await registry.devices.sessions(['quick'], 10);
    expect(sessions?.map(({ epoch, closeReason, firmwareVersion }) => [epoch, closeReason, firmwareVersion])).toEqual([
      [3, undefined, '2.0'],
      [2, 'taken_over', '2.0'],
      [1, 'taken_over', '1.9.0'],
    ]);
    const [history] = await registry.devices.toolSetHistory(['quick'], 10);
    expect(history).toMatchObject([
      { hash: SET_B, firmwareVersion: '2.0', firstSeenAt: AT + 2 },
      { hash: SET_A, firmwareVersion: '1.9.0', firstSeenAt: AT + 1, lastSeenAt: AT + 2 },
    ]);
  });

  it('shows a device that connects again as away until it is ready, with the tools that it had', async () => {
    await comeOnline('returning');
    await registry.devices.connecting(arriving('returning', AT + 9));
    const away = {
      presence: 'OFFLINE',
      epoch: 2,
      toolSetHash: SET_A,
      firmwareVersion: '1.9.0',
      toolsStale: false,
      lastSeenAt: AT + 9,
    };
    expect(await registry.devices.find('returning')).toMatchObject(away);
  });

  it('keeps the last good tool set, marked stale, when a listing failed', async () => {
    await comeOnline('forgetful');
    const { epoch } = await registry.devices.connecting(arriving('forgetful'));
    expect(await registry.devices.ready({ ...greeted('forgetful', epoch), toolSetHash: undefined })).toMatchObject({
      isCurrent: true,
      previousToolSetHash: SET_A,
    });
    expect(await registry.devices.find('forgetful')).toMatchObject({ toolSetHash: SET_A, toolsStale: true });
  });

  it('connects five thousand devices at once in a few statements', async () => {
    const devices = Array.from({ length: 5_000 }, (_, index) => arriving(`crowd-${String(index)}`));
    const opened = await Promise.all(devices.map((device) => registry.devices.connecting(device)));
    expect(opened.every(({ epoch }) => epoch === 1)).toBe(true);
    const results = await Promise.all(
      devices.map((device, index) => registry.devices.ready(greeted(device.deviceId, opened[index]?.epoch ?? 0))),
    );
    expect(results.every((result) => result.isCurrent)).toBe(true);
    expect(await registry.devices.count({ search: 'crowd-', presence: 'ONLINE' })).toBe(5_000);
  });

  it('refuses a device id that cannot be stored, and stores texts that cannot as they can be', async () => {
    await expect(registry.devices.connecting(arriving('nul\0'))).rejects.toMatchObject({ code: 'ARGUMENT_INVALID' });
    const { epoch } = await registry.devices.connecting(arriving('odd'));
    await registry.devices.ready({ ...greeted('odd', epoch), model: 'bo\0ard\ud800' });
    expect(await registry.devices.find('odd')).toMatchObject({ model: 'bo\ufffdard\ufffd' });
  });

  it('returns the history of tool sets with their changes', async () => {
    await comeOnline('changing', SET_A, '1.0');
    await registry.devices.ready(greeted('changing', 1, SET_B, '1.1', AT + 1_000));
    const [history] = await registry.devices.toolSetHistory(['changing'], 10);
    expect(history).toMatchObject([
      { hash: SET_B, firmwareVersion: '1.1', added: ['lamp.blink'], removed: ['lamp.off'], changed: ['lamp.on'] },
      { hash: SET_A, firmwareVersion: '1.0', added: [], removed: [], changed: [], lastSeenAt: AT + 1_000 },
    ]);
  });
});

describe('lists of devices', () => {
  beforeAll(async () => {
    for (const [id, version] of [
      ['list-1', '1.9.0'],
      ['list-2', '1.10.0'],
      ['list-3', '2.0'],
      ['list-4', 'v1'],
    ] as const) {
      await comeOnline(id, id === 'list-3' ? SET_B : SET_A, version);
    }
    await registry.devices.connecting(arriving('list-5'));
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
    const first = await registry.toolSets.fleetTools({ devices }, { first: 3 });
    expect(first.rows.map(({ name, deviceCount }) => [name, deviceCount])).toEqual([
      ['hub.alert', 2],
      ['hub.identify', 2],
      ['lamp.blink', 1],
    ]);
    const rest = await registry.toolSets.fleetTools({ devices }, { first: 10, after: first.cursors[2] ?? '' });
    expect(rest.rows.map(({ name, deviceCount }) => [name, deviceCount])).toEqual([
      ['lamp.off', 1],
      ['lamp.on', 2],
    ]);
  });
});

describe('presence when the process is gone', () => {
  it('is OFFLINE the moment the lease is over, before any sweep, and the sweep closes the sessions', async () => {
    const other = await openRegistry({ databaseUrl: database.databaseUrl });
    await comeOnline('orphan');
    const next = await other.takeLease({ aloneOnDatabase: true });
    expect(await registry.devices.find('orphan')).toMatchObject({ presence: 'OFFLINE' });
    expect(await other.devices.sessions(['orphan'], 1)).toMatchObject([[{ closeReason: 'hub_crashed' }]]);
    expect(await other.sweepDeadProcesses()).toBe(0);
    await next.release();
    await other.close();
  });
});
