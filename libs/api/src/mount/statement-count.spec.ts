import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { watchStatements } from '@flotilla/registry/test-database';
import { openApi, tool, type OpenApi } from './mounted-api.suite.js';

const DEVICES = 50;
/** What a process does besides, now and then, is not in the least of so many. */
const TIMES = 5;

let api: OpenApi;

beforeAll(async () => {
  api = await openApi();
  for (let index = 0; index < DEVICES; index++) await api.addDevice(`d${index}`, [tool(`robot.step_${index}`)]);
  const group = 'mutation { createDeviceGroup(input: {name: "all", filter: {all: true}}) { userErrors { code } } }';
  await api.ask(group);
});
afterAll(() => api.close());

async function statementsOf(query: string): Promise<number> {
  const counts: number[] = [];
  for (let time = 0; time < TIMES; time++) {
    const watch = watchStatements();
    const { codes } = await api.ask(query);
    counts.push(watch.stop());
    expect(codes).toEqual([]);
  }
  return Math.min(...counts);
}

const DEVICE = 'id presence reportedState tools { name policy { pattern } } groups { id name } sessions(first: 2) { epoch }';

describe('the statements of a query', () => {
  it.each<[string, (first: number) => string]>([
    ['devices with all that hangs on them', (first) => `{ devices(first: ${first}) { nodes { ${DEVICE} } } }`],
    [
      'calls and events of devices',
      (first) => `{ devices(first: ${first}) { nodes { calls(first: 1) { nodes { id } } events(first: 1) { nodes { id } } } } }`,
    ],
    ['tools of the fleet', (first) => `{ tools(first: ${first}) { nodes { name policy { pattern } } } }`],
  ])('are as many for 50 rows as for 5: %s', async (_what, query) => {
    const few = await statementsOf(query(5));
    expect(few).toBeGreaterThan(0);
    expect(await statementsOf(query(50))).toBe(few);
  });
});
