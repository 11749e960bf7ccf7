import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../run-command.suite.js';
import { startSchemaHub, type SchemaHub } from '../../schema-hub.suite.js';

const future = '2999-01-01T00:00:00.000Z';
const ofRule = '2998-01-01T00:00:00.000Z';

let hub: SchemaHub;
beforeAll(async () => {
  hub = await startSchemaHub({ 'AlertRule.snoozedUntil': () => ofRule });
});
afterAll(() => hub.close());

describe('a snooze', () => {
  it.each([
    ['of one device ends when it was asked to, not when that of the rule does', ['--device', 'lamp'], future],
    ['of a rule ends when the hub says so', [], ofRule],
  ])('%s', async (_title, words, until) => {
    const { stdout } = await runCommand(hub, ['alerts', 'snooze', 'a-rule', '--for', future, ...words, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ until });
  });
});
