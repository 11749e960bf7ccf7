import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../run-command.suite.js';
import { startSchemaHub, type SchemaHub } from '../../schema-hub.suite.js';

let hub: SchemaHub;
beforeAll(async () => {
  hub = await startSchemaHub();
});
afterAll(() => hub.close());

describe('a new rule', () => {
  const create = ['alerts', 'rules', 'create', 'Offline', '--kind', 'DEVICE_OFFLINE'];

  it('is not one for the whole fleet because its filter is empty', async () => {
    hub.restart('');
    const { problem } = await runCommand(hub, [...create, '--filter', '{}']);
    expect([problem, hub.restart('')]).toEqual([
      'UsageError: --filter has no condition. Omit it for a rule about all devices.',
      [],
    ]);
    expect((await runCommand(hub, create)).code).toBe(0);
  });
});
