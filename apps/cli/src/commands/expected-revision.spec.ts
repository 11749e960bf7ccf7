import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from '../run-command.suite.js';
import { startSchemaHub, type SchemaHub } from '../schema-hub.suite.js';

const id = '01990000-0000-7000-8000-00000000000a';
const mutations = [
  'updateDeviceGroup',
  'updateWebhook',
  'updateNotificationChannel',
  'updateAlertRule',
  'setToolPolicy',
];
const types = ['DeviceGroup', 'Webhook', 'NotificationChannel', 'AlertRule', 'ToolPolicy'];

let hub: SchemaHub;
let sent: unknown[];

beforeAll(async () => {
  const keep = (args: Readonly<Record<string, unknown>>) => {
    sent.push(args['expectedRevision']);
    return {};
  };
  const read = () => 'as it was read';
  hub = await startSchemaHub({
    ...Object.fromEntries(mutations.map((name) => [`Mutation.${name}`, keep])),
    ...Object.fromEntries(types.map((type) => [`${type}.revision`, read])),
  });
  hub.restart(id);
});
beforeEach(() => {
  sent = [];
});
afterAll(() => hub.close());

describe('an edit', () => {
  it.each([
    ['groups edit', ['--name', 'Lobby']],
    ['webhooks edit', ['--type', 'job.*']],
    ['channels edit', ['--name', 'Night shift']],
    ['alerts rules edit', ['--for', '15m']],
  ])('changes only what the command has read: %s', async (command, options) => {
    const { code } = await runCommand(hub, [...command.split(' '), id, ...options]);
    expect([code, sent]).toEqual([0, ['as it was read']]);
  });

  it.each(['groups edit', 'alerts rules edit', 'desired edit'])(
    'does not keep the former devices silently because the filter is empty: %s',
    async (command) => {
      hub.restart(id);
      const { code, problem } = await runCommand(hub, [...command.split(' '), id, '--filter', '{}']);
      expect([code, hub.restart(id)]).toEqual([1, []]);
      expect(problem).toContain('--filter has no condition.');
    },
  );

  it('of a policy changes only what the command has read, and a new one replaces none', async () => {
    for (const pattern of ['text', 'self.new']) await runCommand(hub, ['policies', 'set', pattern, '--idempotent']);
    expect(sent).toEqual(['as it was read', '']);
  });
});
