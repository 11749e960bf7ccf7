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
      { ...kept, name: 'x (new)', kind: 'DEVICE_OFFLINE', devices: { tags: ['shop'] } },
    ]);
    expect(await created({ kind: 'HUB_UNHEALTHY' })).toEqual([{ ...kept, name: 'x (new)', kind: 'HUB_UNHEALTHY' }]);
  });

  it('has what the file says', async () => {
    expect(await created({ kind: 'FLEET_OFFLINE_SHARE', threshold: 0.5, devices: { all: true } })).toMatchObject([
      { kind: 'FLEET_OFFLINE_SHARE', threshold: 0.5, devices: { all: true } },
    ]);
  });
});
