import type { FlotillaClient } from '@flotilla/client';
import { expect, it } from 'vitest';
import type { Document } from './document.js';
import { kinds } from './kinds.js';
import { toolPolicies } from './kinds/tool-policies.js';
import { planAll } from './plan-all.js';

const page = { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } };
const empty = {
  deviceGroups: page,
  firmwareImages: page,
  notificationChannels: [],
  appliedConfigurations: page,
  toolPolicies: [],
  desiredStates: page,
  recurringJobs: page,
  enrolmentLinks: [],
  webhooks: [],
  apiKeys: [],
  recordingRules: [],
  alertRules: [],
};
const client = { request: async () => empty } as unknown as FlotillaClient;

it('a plan of tool policies writes the most specific pattern first: the readback of others may need it', async () => {
  const patterns = ['*', 'self.motor.*', 'self.*', 'self.motor.get_state', 'self.b'];
  const wanted = new Map(patterns.map((pattern) => [pattern, { idempotent: true, disruptive: true }]));
  const changes = await planAll(new Map([['ToolPolicy', wanted]]), [toolPolicies], client);
  expect(changes.map(({ name }) => name)).toEqual(['self.b', 'self.motor.get_state', 'self.motor.*', 'self.*', '*']);
});

const lobby = { group: 'Lobby' };
const job = { tool: 'self.get', devices: lobby };
const jobOfImage = { devices: {}, firmwareImage: 'ab12' };

it.each<readonly [string, string, Record<string, unknown>, string]>([
  ['a state', 'DesiredState', { devices: { not: lobby }, tool: 'self.set', arguments: {} }, 'device group "Lobby"'],
  ['a key', 'ApiKey', { scopes: ['DEVICES_READ'], devices: lobby }, 'device group "Lobby"'],
  ['a recording rule', 'RecordingRule', { rules: [{ devices: lobby }] }, 'device group "Lobby"'],
  ['a recurring job', 'RecurringJob', { cron: '@daily', timeZone: 'UTC', job }, 'device group "Lobby"'],
  ['a roll-out', 'RecurringJob', { cron: '@daily', timeZone: 'UTC', job: jobOfImage }, 'SHA-256 ab12'],
  ['an alert rule', 'AlertRule', { kind: 'DEVICE_OFFLINE', channels: ['Shift'] }, 'channel "Shift"'],
])('the plan of %s names what it misses, so that no apply ends half-way', async (_what, kind, fields, missing) => {
  const document: Document = new Map([[kind, new Map([['It', fields]])]]);
  const planned = planAll(document, kinds, client);
  await expect(planned).rejects.toThrow(`${kind} "It": `);
  await expect(planned).rejects.toThrow(missing);
  const others: Document = new Map([
    ...document,
    ['DeviceGroup', new Map([['Lobby', { filter: {} }]])],
    ['FirmwareImage', new Map([['ab12', { models: ['board'] }]])],
    ['NotificationChannel', new Map([['Shift', { kind: 'EMAIL', config: {} }]])],
  ]);
  expect((await planAll(others, kinds, client)).map(({ name }) => name)).toContain('It');
});

it.each([
  ['makes', undefined],
  [
    'leaves as it is',
    { id: 'key', name: 'It', scopes: ['DEVICES_READ'], devices: { groupId: 'lobby' }, createdBy: 'a' },
  ],
])('a plan that %s what names a group is refused where it deletes the group', async (_what, key) => {
  const group = { id: 'lobby', name: 'Lobby', revision: '1', filter: {} };
  const applied = { kind: 'DeviceGroup', name: 'Lobby', fields: { filter: {} }, revision: 1 };
  const hub = {
    request: async () => ({
      ...empty,
      deviceGroups: { ...page, nodes: [group] },
      appliedConfigurations: { ...page, nodes: [applied] },
      apiKeys: key === undefined ? [] : [{ ...key, revokedAt: null, expiresAt: null }],
    }),
  } as unknown as FlotillaClient;
  const named: Document = new Map([['ApiKey', new Map([['It', { scopes: ['DEVICES_READ'], devices: lobby }]])]]);
  await expect(planAll(named, kinds, hub)).rejects.toThrow('ApiKey "It": There is no device group "Lobby"');
  const others: Document = new Map([['ApiKey', new Map([['It', { scopes: ['DEVICES_READ'] }]])]]);
  expect(await planAll(others, kinds, hub)).toContainEqual(
    expect.objectContaining({ name: 'Lobby', action: 'delete' }),
  );
});
