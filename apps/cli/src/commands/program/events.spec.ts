import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../run-command.suite.js';
import { startSchemaHub, type SchemaHub } from '../../schema-hub.suite.js';

/** Three pages of events, and what was requested. */
const requests: Readonly<Record<string, unknown>>[] = [];

let hub: SchemaHub;
beforeAll(async () => {
  hub = await startSchemaHub({
    'Query.events': (args) => {
      requests.push(args);
      const page = Number(args['after'] ?? 0);
      return {
        nodes: [{ type: `page.${page}` }],
        pageInfo: { hasNextPage: page < 2, endCursor: String(page + 1) },
      };
    },
  });
});
afterAll(() => hub.close());

describe('the events of the past', () => {
  it('are all pages, latest first, as the options select them', async () => {
    const options = ['--device', 'a', '--type', 'page.*', '--except', 'x', '--since', '2026-01-31T08:00Z'];
    const { stdout } = await runCommand(hub, ['events', ...options, '-o', 'csv', '--columns', 'type']);
    expect(stdout).toBe('type\npage.0\npage.1\npage.2\n');
    const filter = { deviceId: 'a', types: ['page.*'], exceptTypes: ['x'], since: '2026-01-31T08:00:00.000Z' };
    expect(requests.map((request) => request['after'])).toEqual([null, '1', '2']);
    expect(requests[0]).toMatchObject({ filter, orderBy: 'AT_DESC' });
  });

  it('stop at the limit', async () => {
    const { stdout, stderr } = await runCommand(hub, ['events', 'list', '--limit', '2', '-o', 'json']);
    expect([JSON.parse(stdout), stderr]).toMatchObject([[{}, {}], expect.stringContaining('More than 2 match.')]);
  });
});
