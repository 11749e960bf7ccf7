import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommand } from '../../run-command.suite.js';
import { startSchemaHub, type SchemaHub } from '../../schema-hub.suite.js';

let hub: SchemaHub;
beforeAll(async () => {
  hub = await startSchemaHub({ 'Viewer.devices': () => ({ tags: ['shop'] }) });
});
afterAll(() => hub.close());

it('shows the devices of a limited key', async () => {
  expect((await runCommand(hub, ['whoami'])).stdout).toMatch(/devices.*shop/);
});
