import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fillWithRows, watchStatements } from '@flotilla/registry/test-database';
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
  await fillWithRows(api.databaseUrl, DEVICES);
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

const DEVICE =
  'id presence reportedState tools { name policy { pattern } } groups { id name } sessions(first: 2) { epoch }';

const JOB = 'id name conclusion firmwareImage { id models } progress { total } waves { number decided }';
const TARGET = 'deviceId outcome device { id name presence } result { text } download { requests }';

describe('the statements of a query', () => {
  it.each<[string, (first: number) => string]>([
    ['devices with all that hangs on them', (first) => `{ devices(first: ${first}) { nodes { ${DEVICE} } } }`],
    [
      'calls and events of devices',
      (first) =>
        `{ devices(first: ${first}) { nodes { calls(first: 1) { nodes { id } } events(first: 1) { nodes { id } } } } }`,
    ],
    [
      'measured paths and restarts of devices',
      (first) =>
        `{ devices(first: ${first}) { nodes { measurementPaths unexpectedRestarts(since: "2026-01-01T00:00:00Z") } } }`,
    ],
    ['jobs', (first) => `{ jobs(first: ${first}) { nodes { ${JOB} } } }`],
    // Dearer: of 50 jobs they would cost more than one operation may.
    [
      'failures of jobs',
      (first) => `{ jobs(first: ${Math.min(first, 40)}) { nodes { failureGroups(first: 1) { count } } } }`,
    ],
    ['reruns of jobs', (first) => `{ jobs(first: ${Math.min(first, 40)}) { nodes { rerunOffer { count } } } }`],
    [
      'jobs over time',
      (first) => `{ jobs(first: ${Math.min(first, 40)}) { nodes { decidedOverTime(points: 2) { at succeeded } } } }`,
    ],
    [
      'targets of a job',
      (first) => `{ jobs(first: 1) { nodes { targets(first: ${first}) { nodes { ${TARGET} } } } } }`,
    ],
    ['targets of jobs', (first) => `{ jobs(first: ${first}) { nodes { targets(first: 2) { nodes { ${TARGET} } } } } }`],
    ['firmware images', (first) => `{ firmwareImages(first: ${first}) { nodes { id version models } } }`],
    ['uploads', (first) => `{ uploads(first: ${first}) { nodes { id deviceId url thumbnailUrl } } }`],
    ['calls with their devices', (first) => `{ calls(first: ${first}) { nodes { id device { id name } } } }`],
    ['tools of the fleet', (first) => `{ tools(first: ${first}) { nodes { name policy { pattern } } } }`],
  ])('are equally many for 50 rows and for 5: %s', async (_what, query) => {
    const few = await statementsOf(query(5));
    expect(few).toBeGreaterThan(0);
    expect(await statementsOf(query(50))).toBe(few);
  });

  it('are one for the deliveries of all webhooks', async () => {
    const bare = await statementsOf('{ webhooks { id } }');
    expect(await statementsOf('{ webhooks { id deliveries(first: 5) { id status } } }')).toBe(bare + 1);
  });
});
