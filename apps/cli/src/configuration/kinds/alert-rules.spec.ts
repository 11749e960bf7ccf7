import type { FlotillaClient } from '@flotilla/client';
import { describe, expect, it } from 'vitest';
import { applyAll } from '../apply.js';
import type { Fields } from '../kind.js';
import { planOf } from '../plan.js';
import { alertRules } from './alert-rules.js';

const page = { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } };
const rule = {
  id: '1',
  name: 'x',
  kind: 'MEASUREMENT',
  path: 'self.get_device_status:battery.level',
  threshold: 20,
  below: true,
  severity: 'CRITICAL',
  devices: { tags: ['shop'] },
  channels: [{ name: 'Operations' }],
};

/** Applies a file with `wanted` to a hub that has the rule; returns the rules that were created. */
async function created(wanted: Fields): Promise<unknown> {
  const sent: unknown[] = [];
  const accepted = { userErrors: [], alertRule: { id: '2' } };
  const answers = {
    alertRules: [rule],
    deviceGroups: page,
    firmwareImages: page,
    notificationChannels: [{ id: 'c', name: 'Operations' }],
    createAlertRule: accepted,
    updateAlertRule: accepted,
    deleteAlertRule: accepted,
    recordAppliedConfiguration: accepted,
  };
  const request = async (_document: unknown, variables?: Readonly<Record<string, unknown>>) => {
    const input = variables?.['input'];
    if (input !== undefined && !Array.isArray(input) && !('id' in (variables ?? {}))) sent.push(input);
    return answers;
  };
  const client = { request } as unknown as FlotillaClient;
  const references = { groups: new Map(), images: new Map(), channels: new Map() };
  const [live] = await alertRules.read({ client, references });
  const change = planOf({ kind: alertRules, name: 'x', wanted, applied: undefined, live });
  await applyAll([change], { client, folder: '.', secretsFile: undefined, onDone: () => undefined });
  return sent;
}

describe('a rule that becomes one of another kind', () => {
  it('keeps what both kinds have', async () => {
    const kept = { severity: 'CRITICAL', channelIds: ['c'] };
    expect(await created({ kind: 'DEVICE_OFFLINE' })).toEqual([
      { ...kept, name: 'x (changing kind)', kind: 'DEVICE_OFFLINE', devices: { tags: ['shop'] } },
    ]);
    expect(await created({ kind: 'HUB_UNHEALTHY' })).toEqual([
      { ...kept, name: 'x (changing kind)', kind: 'HUB_UNHEALTHY' },
    ]);
  });

  it('has what the file says', async () => {
    expect(await created({ kind: 'FLEET_OFFLINE_SHARE', threshold: 0.5, devices: { all: true } })).toMatchObject([
      { kind: 'FLEET_OFFLINE_SHARE', threshold: 0.5, devices: { all: true } },
    ]);
  });
});

describe('an apply after one that ended between the new rule and its name', () => {
  /** Rules of a hub that refuses the first deletion, as after a lost network. */
  async function rulesAfter(applies: readonly string[]): Promise<readonly unknown[]> {
    const rules = new Map([['1', { ...rule }]]);
    let failures = 1;
    const answer = {
      deviceGroups: page,
      firmwareImages: page,
      notificationChannels: [{ id: 'c', name: 'Operations' }],
      recordAppliedConfiguration: { userErrors: [] },
    };
    const accepted = { userErrors: [], alertRule: { id: '2' } };
    const request = async (_document: unknown, given: { id?: string; input?: object; revision?: unknown } = {}) => {
      const { id = '', input } = given;
      if ('revision' in given) rules.set(id, { ...rule, ...input, id });
      else if (input !== undefined && !Array.isArray(input)) rules.set('2', { ...rule, ...input, id: '2' });
      else if (id !== '') {
        failures -= 1;
        if (failures >= 0) throw new TypeError('the network is gone');
        rules.delete(id);
      }
      const alerts = { createAlertRule: accepted, updateAlertRule: accepted, deleteAlertRule: accepted };
      return { ...answer, ...alerts, alertRules: [...rules.values()] };
    };
    const client = { request } as unknown as FlotillaClient;
    const references = { groups: new Map(), images: new Map(), channels: new Map() };
    for (const name of applies) {
      const live = (await alertRules.read({ client, references })).find((one) => one.name === name);
      const change = planOf({ kind: alertRules, name, wanted: { kind: 'HUB_UNHEALTHY' }, applied: undefined, live });
      await applyAll([change], { client, folder: '.', secretsFile: undefined, onDone: () => undefined }).catch(
        () => undefined,
      );
    }
    return [...rules.values()].map(({ id, name, kind }) => ({ id, name, kind }));
  }

  it('finds the former rule and the new one, and ends the change', async () => {
    expect(await rulesAfter(['x'])).toMatchObject([{ name: 'x' }, { name: 'x (changing kind)' }]);
    expect(await rulesAfter(['x', 'x'])).toEqual([{ id: '2', name: 'x', kind: 'HUB_UNHEALTHY' }]);
  });
});
