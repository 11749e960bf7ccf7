import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommand } from '../../run-command.suite.js';
import { startSchemaHub, type SchemaHub } from '../../schema-hub.suite.js';

const [id, other] = ['01990000-0000-7000-8000-00000000000a', '01990000-0000-7000-8000-00000000000b'];
const rules = [
  { name: 'Offline', channels: [{ id }] },
  { name: 'Both', channels: [{ id }, { id: other }] },
  { name: 'None', channels: [] },
];
const warning = 'These rules have no other channel: Offline.';

let hub: SchemaHub;

beforeAll(async () => {
  hub = await startSchemaHub({ 'Query.alertRules': () => rules });
  hub.restart(id);
});
afterAll(() => hub.close());

it('names the rules without another channel before it asks, and deletes nothing unconfirmed', async () => {
  const { problem } = await runCommand(hub, ['channels', 'delete', id]);
  expect(problem).toContain(warning);
  expect(hub.restart(id)).toEqual([]);
});

it('names them also where the deletion is confirmed already', async () => {
  const { code, stderr } = await runCommand(hub, ['channels', 'delete', id, '--yes']);
  expect(code).toBe(0);
  expect(stderr).toContain(warning);
  expect(hub.restart(id)).toEqual(['deleteNotificationChannel']);
});

it('warns of nothing for another channel', async () => {
  const { stderr } = await runCommand(hub, ['channels', 'delete', other, '--yes']);
  expect(stderr).not.toContain('no other channel');
});
