/** Saved filters as operators use them, and the clocks of the devices in them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { someUuid } from '../src/devices/device-credentials.js';
import { eventually } from '../src/eventually.js';
import { ask, send } from '../src/api/graphql-client.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { askOta } from '../src/devices/ota-client.js';

interface GroupNode {
  readonly id: string;
  readonly name: string;
  readonly filter: unknown;
  readonly timeZone: string | null;
  readonly deviceCount: number;
  readonly devices: { readonly totalCount: number; readonly nodes: readonly { readonly id: string }[] };
}

interface GroupAnswer {
  readonly deviceGroup: GroupNode | null;
  readonly userErrors: readonly { readonly code: string; readonly path: readonly string[] }[];
}

const members = 'id name filter timeZone deviceCount devices(first: 2) { totalCount nodes { id } }';
const payload = `deviceGroup { ${members} } userErrors { code path }`;
const [kiosk, lamp, shed] = ['02:00:51:00:00:01', '02:00:51:00:00:02', '02:00:51:00:00:03'] as const;

describe('device groups', () => {
  let hub: HubProcess;

  beforeAll(async () => {
    hub = await startHub({ env: { FLOTILLA_DEVICE_AUTH: '', FLOTILLA_DEVICE_TIMEZONE: 'UTC' } });
    const devices = [kiosk, lamp, shed].map((deviceId, index) => ({
      deviceId,
      dialect: 'XIAOZHI',
      clientId: someUuid,
      tags: index < 2 ? ['berlin'] : [],
    }));
    await ask(
      hub,
      'mutation ($devices: [RegisterDeviceInput!]!) { registerDevices(input: $devices) { userErrors { code } } }',
      {
        devices,
      },
    );
  });
  afterAll(async () => {
    expect(await hub.stop()).toBe(0);
    removeDataDir(hub.dataDir);
  });

  async function create(input: Readonly<Record<string, unknown>>): Promise<GroupAnswer> {
    const mutation = `mutation ($input: DeviceGroupInput!) { createDeviceGroup(input: $input) { ${payload} } }`;
    return (await ask<{ createDeviceGroup: GroupAnswer }>(hub, mutation, { input })).createDeviceGroup;
  }

  async function update(id: string, input: Readonly<Record<string, unknown>>): Promise<GroupAnswer> {
    const mutation = `mutation ($id: ID!, $input: DeviceGroupInput!) {
      updateDeviceGroup(id: $id, input: $input) { ${payload} } }`;
    return (await ask<{ updateDeviceGroup: GroupAnswer }>(hub, mutation, { id, input })).updateDeviceGroup;
  }

  async function remove(
    id: string,
  ): Promise<{ readonly deviceGroupId: string | null; readonly userErrors: readonly unknown[] }> {
    const mutation =
      'mutation ($id: ID!) { answer: deleteDeviceGroup(id: $id) { deviceGroupId userErrors { code path } } }';
    return (
      await ask<{ answer: { deviceGroupId: string | null; userErrors: readonly unknown[] } }>(hub, mutation, { id })
    ).answer;
  }

  async function saved(input: Readonly<Record<string, unknown>>): Promise<GroupNode> {
    const { deviceGroup, userErrors } = await create(input);
    if (deviceGroup === null) throw new Error(`createDeviceGroup refused: ${JSON.stringify(userErrors)}`);
    return deviceGroup;
  }

  const changeDevice = (input: Readonly<Record<string, unknown>>) =>
    ask<{
      updateDevice: {
        device: { timeZone: string | null } | null;
        userErrors: readonly { code: string; path: string[] }[];
      };
    }>(
      hub,
      `mutation ($input: UpdateDeviceInput!) { updateDevice(input: $input) {
        device { timeZone } userErrors { code path } } }`,
      { input },
    ).then(({ updateDevice }) => updateDevice);

  it('contain the devices that match now, in every filter', async () => {
    const lastSeenBefore = '2026-01-02T03:04:05.000Z';
    const filter = { tags: ['berlin'], not: { lastSeenBefore } };
    const group = await saved({ name: 'Berlin', filter });
    expect(group).toMatchObject({ name: 'Berlin', filter, timeZone: null, deviceCount: 2, devices: { totalCount: 2 } });
    const chosen = await ask<{ devices: { nodes: readonly { id: string; groups: readonly { name: string }[] }[] } }>(
      hub,
      'query ($filter: DeviceFilter) { devices(filter: $filter) { nodes { id groups { name } } } }',
      { filter: { any: [{ groupId: group.id }] } },
    );
    expect(chosen.devices.nodes).toEqual([kiosk, lamp].map((id) => ({ id, groups: [{ name: 'Berlin' }] })));
    await ask(hub, 'mutation ($input: TagDevicesInput!) { tagDevices(input: $input) { changedCount } }', {
      input: { filter: { not: { groupId: group.id } }, add: ['berlin'] },
    });
    const again = await ask<{ deviceGroup: GroupNode }>(
      hub,
      `query ($id: ID!) { deviceGroup(id: $id) { ${members} } }`,
      { id: group.id },
    );
    expect(again.deviceGroup.deviceCount).toBe(3);
    const changed = await update(group.id, { name: 'Sheds', filter: { ids: [shed] } });
    expect(changed.deviceGroup).toMatchObject({
      id: group.id,
      name: 'Sheds',
      deviceCount: 1,
      devices: { nodes: [{ id: shed }] },
    });
    expect(await remove(group.id)).toEqual({ deviceGroupId: group.id, userErrors: [] });
    expect(await remove(group.id)).toEqual({ deviceGroupId: null, userErrors: [{ code: 'NOT_FOUND', path: ['id'] }] });
  });

  it('are refused with what is wrong, and nothing is changed', async () => {
    const group = await saved({ name: 'Lamps', filter: { search: 'lamp' } });
    const all = { all: true };
    const refusals: readonly (readonly [Readonly<Record<string, unknown>>, string, readonly string[]])[] = [
      [{ name: 'Lamps', filter: all }, 'CONFLICT', ['input', 'name']],
      [{ name: ' ', filter: all }, 'INVALID', ['input', 'name']],
      [{ name: 'x', filter: {} }, 'INVALID', ['input', 'filter']],
      [{ name: 'x', filter: { any: [{}] } }, 'INVALID', ['input', 'filter', 'any', '0']],
      [{ name: 'x', filter: { groupId: group.id } }, 'INVALID', ['input', 'filter']],
      [{ name: 'x', filter: all, timeZone: '+01:00' }, 'INVALID', ['input', 'timeZone']],
    ];
    for (const [input, code, path] of refusals)
      expect(await create(input)).toEqual({ deviceGroup: null, userErrors: [{ code, path }] });
    expect(await update('unknown', { name: 'x', filter: all })).toMatchObject({
      userErrors: [{ code: 'NOT_FOUND', path: ['id'] }],
    });
    const groups = await ask<{ deviceGroups: { nodes: readonly GroupNode[] } }>(
      hub,
      `{ deviceGroups(first: 5) { nodes { ${members} } } }`,
    );
    expect(groups.deviceGroups.nodes).toEqual([group]);
    await remove(group.id);
  });

  it('that were deleted are refused in lists, tags and jobs', async () => {
    const group = await saved({ name: 'Gone', filter: { all: true } });
    await remove(group.id);
    const filter = { not: { groupId: group.id } };
    const list = await send(hub, 'query ($filter: DeviceFilter) { devices(filter: $filter) { nodes { id } } }', {
      filter,
    });
    expect(list.errors).toMatchObject([
      { message: `There is no device group "${group.id}".`, extensions: { code: 'BAD_USER_INPUT' } },
    ]);
    const tagging = await ask(
      hub,
      'mutation ($input: TagDevicesInput!) { tagDevices(input: $input) { changedCount userErrors { code path } } }',
      {
        input: { filter, add: ['gone'] },
      },
    );
    expect(tagging).toEqual({
      tagDevices: { changedCount: 0, userErrors: [{ code: 'NOT_FOUND', path: ['input', 'filter'] }] },
    });
    const job = await ask(
      hub,
      `mutation ($input: CreateJobInput!) { createJob(input: $input, idempotencyKey: "gone") {
        job { id } userErrors { code path } } }`,
      { input: { tool: 'self.lamp.turn_on', devices: filter } },
    );
    expect(job).toEqual({ createJob: { job: null, userErrors: [{ code: 'NOT_FOUND', path: ['input', 'devices'] }] } });
  });

  it('set the clocks of their devices without a time zone', async () => {
    /** Minutes east of UTC in a zone now, by what this computer knows of daylight saving. */
    const offsetOf = (zone: string): number => {
      const wall = new Date().toLocaleString('sv', { timeZone: zone });
      return Math.round((Date.parse(`${wall}Z`) - Date.now()) / 60_000);
    };
    const clockShows = (mac: string, zone: string) =>
      eventually(
        async () => (await askOta(hub, { mac, uuid: someUuid })).body.server_time?.timezone_offset,
        (offset) => offset === offsetOf(zone),
        10_000,
      );
    await clockShows(kiosk, 'UTC');
    const group = await saved({ name: 'Newfoundland', filter: { tags: ['st-johns'] }, timeZone: 'America/St_Johns' });
    await changeDevice({ deviceId: kiosk, tags: ['st-johns'] });
    await clockShows(kiosk, 'America/St_Johns');
    expect(await changeDevice({ deviceId: kiosk, timeZone: 'Asia/Kathmandu' })).toMatchObject({
      device: { timeZone: 'Asia/Kathmandu' },
    });
    await clockShows(kiosk, 'Asia/Kathmandu');
    const refused = await changeDevice({ deviceId: kiosk, timeZone: 'Nowhere/Land' });
    expect(refused).toEqual({ device: null, userErrors: [{ code: 'INVALID', path: ['input', 'timeZone'] }] });
    expect(await changeDevice({ deviceId: kiosk, timeZone: null })).toMatchObject({ device: { timeZone: null } });
    await clockShows(kiosk, 'America/St_Johns');
    await update(group.id, { name: 'Berlin', filter: { tags: ['st-johns'] }, timeZone: 'Europe/Berlin' });
    await clockShows(kiosk, 'Europe/Berlin');
    await remove(group.id);
    await clockShows(kiosk, 'UTC');
  });
});
