import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommand } from '../../run-command.suite.js';
import { startSchemaHub, type SchemaHub } from '../../schema-hub.suite.js';

const id = '02:00:00:00:00:01';

let hub: SchemaHub;

beforeAll(async () => {
  hub = await startSchemaHub();
  hub.restart(id);
});
afterAll(() => hub.close());

it('says for how long the old credential works before it asks, and changes nothing unconfirmed', async () => {
  const { problem } = await runCommand(hub, ['devices', 'rotate', id]);
  expect(problem).toContain('The old one works until the device uses the new one, for at most a day.');
  expect(hub.restart(id)).toEqual([]);
});

it('rotates where that is confirmed', async () => {
  const { code } = await runCommand(hub, ['devices', 'rotate', id, '--yes']);
  expect(code).toBe(0);
  expect(hub.restart(id)).toEqual(['rotateDeviceCredential']);
});
