import type { FlotillaClient } from '@flotilla/client';
import { describe, expect, it } from 'vitest';
import type { Kind, KindContext } from '../kind.js';
import { alertRules } from './alert-rules.js';
import { deviceGroups } from './device-groups.js';
import { notificationChannels } from './notification-channels.js';
import { recurringJobs } from './recurring-jobs.js';
import { toolPolicies } from './tool-policies.js';
import { webhooks } from './webhooks.js';

const references = { groups: new Map(), images: new Map(), channels: new Map() };

/** A hub that answers each read with `answer`, and the variables of the changes that it gets. */
function hubOf(answer: Readonly<Record<string, unknown>>) {
  const sent: unknown[] = [];
  const accepted = { userErrors: [] };
  const changes = { setToolPolicy: accepted, updateDeviceGroup: accepted, updateWebhook: accepted };
  const others = { updateAlertRule: accepted, updateNotificationChannel: accepted, updateRecurringJob: accepted };
  const request = async (_document: unknown, variables?: Readonly<Record<string, unknown>>) => {
    if (variables?.['input'] !== undefined) sent.push(variables);
    return { ...answer, ...changes, ...others };
  };
  const context: KindContext = { client: { request } as unknown as FlotillaClient, references, folder: '.' };
  return { context, sent };
}

const one = { id: 'one', name: 'x', revision: 'read' };
const page = { hasNextPage: false, endCursor: null };

describe('an apply', () => {
  it.each<[Kind, Readonly<Record<string, unknown>>]>([
    [deviceGroups, { deviceGroups: { nodes: [{ ...one, filter: {} }], pageInfo: page } }],
    [toolPolicies, { toolPolicies: [{ pattern: 'x', revision: 'read' }] }],
    [recurringJobs, { recurringJobs: { nodes: [{ ...one, job: { tool: 'x', devices: {} } }], pageInfo: page } }],
    [webhooks, { webhooks: [{ ...one, url: 'x', types: ['*'], enabled: true }] }],
    [alertRules, { alertRules: [{ ...one, kind: 'DEVICE_OFFLINE', devices: null, channels: [] }] }],
    [notificationChannels, { notificationChannels: [{ ...one, kind: 'EMAIL', config: {}, enabled: true }] }],
  ])('changes what the plan has read: $kind', async (kind, answer) => {
    const { context, sent } = hubOf(answer);
    const [live] = await kind.read(context);
    if (live === undefined) throw new TypeError('Nothing was read.');
    expect(live.fields).not.toHaveProperty('revision');
    await kind.update?.(live, live.fields, context);
    expect(sent).toMatchObject([{ revision: 'read' }]);
  });

  it('creates a policy only where none is', async () => {
    const { context, sent } = hubOf({});
    await toolPolicies.create('x', {}, context);
    expect(sent).toMatchObject([{ revision: '' }]);
  });
});
