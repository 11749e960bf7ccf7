import type { DeviceId, ToolSetHash } from '@flotilla/mcp';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Registry } from '../index.js';
import { openRegistry } from '../index.js';
import {
  AT,
  connecting,
  openDeviceFixture,
  SET_A,
  SET_B,
  type DeviceFixture,
} from '../devices/device-fixture.suite.js';

let fixture: DeviceFixture;
let registry: Registry;

beforeAll(async () => {
  fixture = await openDeviceFixture();
  ({ registry } = fixture);
});
afterAll(() => fixture.close());

describe('sessions of devices', () => {
  it('makes a new device at its first connection and shows it online once it is ready', async () => {
    const { epoch } = await registry.devices.connect(connecting('first'));
    expect(epoch).toBe(1);
    expect(await registry.devices.find('first')).toMatchObject({
      presence: 'OFFLINE',
      epoch: 1,
      connectedAt: undefined,
    });
    expect(await registry.devices.ready(fixture.greeted('first', epoch))).toEqual({
      isCurrent: true,
      previousToolSetHash: undefined,
      previousFirmwareVersion: undefined,
    });
    expect(await registry.devices.find('first')).toMatchObject({
      presence: 'ONLINE',
      model: 'board',
      firmwareVersion: '1.9.0',
      toolSetHash: SET_A,
      toolsStale: false,
      connectedAt: AT,
    });
  });

  it('gives each of several connections of one device in one moment its own epoch, in order', async () => {
    const opened = await Promise.all([1, 2, 3].map(() => registry.devices.connect(connecting('thrice'))));
    expect(opened.map(({ epoch }) => epoch)).toEqual([1, 2, 3]);
    const [sessions] = await registry.devices.sessions(['thrice'], 10);
    expect(sessions?.map(({ epoch, closeReason }) => [epoch, closeReason])).toEqual([
      [3, undefined],
      [2, 'taken_over'],
      [1, 'taken_over'],
    ]);
  });

  it('lets writes of an older epoch change nothing', async () => {
    const old = await fixture.comeOnline('replaced');
    const epoch = await fixture.comeOnline('replaced');
    expect(
      await registry.devices.closeSession({
        deviceId: 'replaced' as DeviceId,
        epoch: old,
        reason: 'connection_lost',
        at: AT + 5,
      }),
    ).toBe(false);
    expect(await registry.devices.ready(fixture.greeted('replaced', old, SET_B))).toMatchObject({ isCurrent: false });
    expect(await registry.devices.find('replaced')).toMatchObject({ presence: 'ONLINE', epoch, toolSetHash: SET_A });
  });

  it('does not bring a device online whose session was closed before it was ready', async () => {
    const { epoch } = await registry.devices.connect(connecting('hasty'));
    expect(
      await registry.devices.closeSession({
        deviceId: 'hasty' as DeviceId,
        epoch,
        reason: 'connection_lost',
        at: AT + 1,
      }),
    ).toBe(true);
    expect(await registry.devices.ready(fixture.greeted('hasty', epoch))).toMatchObject({ isCurrent: false });
    expect(await registry.devices.find('hasty')).toMatchObject({ presence: 'OFFLINE' });
  });

  it('opens a session that is already ready with one write, which returns what it replaced', async () => {
    const open = (toolSetHash: ToolSetHash | undefined, firmwareVersion: string, at: number) =>
      registry.devices.connect({
        ...connecting('quick'),
        ready: { ...fixture.greeted('quick', 0), toolSetHash, firmwareVersion, at },
      });
    const unknown = { previousToolSetHash: undefined, previousFirmwareVersion: undefined };
    expect(await open(SET_A, '1.9.0', AT + 1)).toEqual({ epoch: 1, ready: { isCurrent: true, ...unknown } });
    const online = { presence: 'ONLINE', model: 'board', connectedAt: AT, toolsStale: false } as const;
    const first = {
      ...online,
      epoch: 1,
      toolSetHash: SET_A,
      firmwareVersion: '1.9.0',
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
    await fixture.comeOnline('returning');
    await registry.devices.connect(connecting('returning', AT + 9));
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
    await fixture.comeOnline('forgetful');
    const { epoch } = await registry.devices.connect(connecting('forgetful'));
    const ready = { ...fixture.greeted('forgetful', epoch), toolSetHash: undefined };
    expect(await registry.devices.ready(ready)).toMatchObject({
      isCurrent: true,
      previousToolSetHash: SET_A,
    });
    expect(await registry.devices.find('forgetful')).toMatchObject({ toolSetHash: SET_A, toolsStale: true });
  });

  it('connects five thousand devices at once in a few statements', async () => {
    const devices = Array.from({ length: 5_000 }, (_, index) => connecting(`crowd-${String(index)}`));
    const opened = await Promise.all(devices.map((device) => registry.devices.connect(device)));
    expect(opened.every(({ epoch }) => epoch === 1)).toBe(true);
    const results = await Promise.all(
      devices.map((device, index) =>
        registry.devices.ready(fixture.greeted(device.deviceId, opened[index]?.epoch ?? 0)),
      ),
    );
    expect(results.every((result) => result.isCurrent)).toBe(true);
    expect(await registry.devices.count({ search: 'crowd-', presence: 'ONLINE' })).toBe(5_000);
  });

  it('refuses a device id that cannot be stored, and stores texts that cannot as they can be', async () => {
    await expect(registry.devices.connect(connecting('nul\0'))).rejects.toMatchObject({ code: 'ARGUMENT_INVALID' });
    const { epoch } = await registry.devices.connect(connecting('odd'));
    await registry.devices.ready({ ...fixture.greeted('odd', epoch), model: 'bo\0ard\ud800' });
    expect(await registry.devices.find('odd')).toMatchObject({ model: 'bo\ufffdard\ufffd' });
  });

  it('returns the history of tool sets with their changes', async () => {
    await fixture.comeOnline('changing', SET_A, '1.0');
    await registry.devices.ready(fixture.greeted('changing', 1, SET_B, '1.1', AT + 1_000));
    const [history] = await registry.devices.toolSetHistory(['changing'], 10);
    expect(history).toMatchObject([
      { hash: SET_B, firmwareVersion: '1.1', added: ['lamp.blink'], removed: ['lamp.off'], changed: ['lamp.on'] },
      { hash: SET_A, firmwareVersion: '1.0', added: [], removed: [], changed: [], lastSeenAt: AT + 1_000 },
    ]);
  });
});

describe('presence when the process is gone', () => {
  it('has the end of the lease as last contact, before any sweep', async () => {
    const dying = await openRegistry({ databaseUrl: fixture.databaseUrl });
    const lease = await dying.takeLease();
    const { epoch } = await dying.devices.connect(connecting('ghost'));
    await dying.devices.ready({ ...fixture.greeted('ghost', epoch), gatewayId: lease.id });
    const client = new pg.Client({ connectionString: fixture.databaseUrl });
    await client.connect();
    const text = `UPDATE hub_process SET lease_until = date_trunc('second', now()) - interval '40 seconds'
                  WHERE id = $1 RETURNING lease_until AS until`;
    const { rows } = await client.query<{ until: Date }>(text, [lease.id]);
    await client.end();
    const until = rows[0]?.until.getTime() ?? 0;
    expect(await registry.devices.find('ghost')).toMatchObject({ presence: 'OFFLINE', lastSeenAt: until });
    const longAway = { ids: ['ghost'], lastSeenBefore: until - 60_000 };
    expect(await registry.devices.count(longAway)).toBe(0);
    expect(await registry.devices.tag(longAway, { add: ['away'], remove: [], tagsMax: 3 })).toMatchObject({ ids: [] });
    await dying.close();
  });

  it('is OFFLINE the moment the lease is over, before any sweep, and the sweep closes the sessions', async () => {
    const other = await openRegistry({ databaseUrl: fixture.databaseUrl });
    await fixture.comeOnline('orphan');
    const endedAt = Date.now();
    const next = await other.takeLease({ aloneOnDatabase: true });
    const orphan = await registry.devices.find('orphan');
    expect(orphan).toMatchObject({ presence: 'OFFLINE' });
    expect(orphan?.lastSeenAt).toBeGreaterThan(endedAt - 10_000);
    expect(await other.devices.sessions(['orphan'], 1)).toMatchObject([[{ closeReason: 'hub_crashed' }]]);
    const ends = async () => (await other.events.page({ deviceId: 'orphan' }, 'AT_ASC', { first: 10 })).rows;
    await expect.poll(ends).toMatchObject([{ type: 'device.disconnected', data: { reason: 'hub_crashed', epoch: 1 } }]);
    expect(await other.sweepDeadProcesses()).toEqual({ gone: [], events: [] });
    await next.release();
    await other.close();
  });
});
