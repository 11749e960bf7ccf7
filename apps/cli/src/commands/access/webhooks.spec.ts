import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../run-command.suite.js';
import { startSchemaHub, type SchemaHub } from '../../schema-hub.suite.js';

const stored = 150;

let hub: SchemaHub;
beforeAll(async () => {
  hub = await startSchemaHub({
    'Webhook.deliveries': ({ first }) => Array.from({ length: Math.min(Number(first), stored) }, () => ({})),
  });
  hub.restart('w');
});
afterAll(() => hub.close());

describe('the deliveries of a webhook', () => {
  const said = async (...limit: readonly string[]) => {
    const { stdout, stderr } = await runCommand(hub, ['webhooks', 'deliveries', 'w', '--json', ...limit]);
    return [stdout.trimEnd().split('\n').length, stderr];
  };

  it('are listed up to the limit, with a note that there are more', async () => {
    expect(await said()).toEqual([20, 'More than 20 match. List all with --limit 0.\n']);
    const note = 'Only the latest 100 deliveries are listed. There may be more.\n';
    for (const limit of ['0', '100', '120']) expect(await said('--limit', limit)).toEqual([100, note]);
    expect(await said('--limit', '99')).toEqual([99, expect.stringContaining('More than 99 match')]);
  });
});
