import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommand } from '../../run-command.suite.js';
import { startSchemaHub, type SchemaHub } from '../../schema-hub.suite.js';

let hub: SchemaHub;

beforeAll(async () => {
  const payload = { device: null, credential: { password: 'p' }, userErrors: [] };
  hub = await startSchemaHub({ 'Mutation.registerDevice': () => payload });
});
afterAll(() => hub.close());

it('prints the credential, also where the key may not read the chosen columns', async () => {
  const { code, stdout } = await runCommand(hub, ['devices', 'add', 'lamp', '--columns', 'id,name', '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual({ id: 'lamp', credential: { password: 'p' } });
});
