/** PostgreSQL compares each row with each entry of a list, so repeated entries are left out. */
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import type { JobId } from '@flotilla/mcp';
import { Database } from '../database/database.js';
import { DesiredStateReads } from '../desired-states/desired-state-reads.js';
import { JobReads } from '../jobs/reads/job-reads.js';
import { openTestDatabase } from '../test-database.js';
import type { TestDatabase } from '../test-database.js';
import { pageOfCalls } from './call-pages.js';

const often = <Value>(value: Value): readonly Value[] => [value, value, value];
const request = { first: 1 };
const id = '01a22298-c13c-7000-8000-0377b650b5be';
const ignore = () => undefined;
const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };

let opened: TestDatabase;
let database: Database;

beforeAll(async () => {
  opened = await openTestDatabase();
  database = new Database(opened.databaseUrl, 1, logger);
});
afterEach(() => vi.restoreAllMocks());
afterAll(async () => {
  await database.close();
  await opened.close();
});

it.each([
  ['calls', () => pageOfCalls(database, { outcomes: often('FAILED') }, request), 'FAILED'],
  ['jobs by state', () => new JobReads(database).page({ states: often('PAUSED') }, request), 'PAUSED'],
  ['jobs by conclusion', () => new JobReads(database).count({ conclusions: often('FAILED') }), 'FAILED'],
  ['targets', () => new JobReads(database).targets([id as JobId], { outcomes: often('FAILED') }, request), 'FAILED'],
  ['devices', () => new DesiredStateReads(database).targets(id, often('HELD'), request), 'HELD'],
] as const)('%s are compared with each value once', async (_list, read, value) => {
  const query = vi.spyOn(database, 'query');
  await read();
  const lists = query.mock.calls.flatMap(([, values]) =>
    values.filter((each) => Array.isArray(each) && each.includes(value)),
  );
  expect(lists.length).toBeGreaterThan(0);
  for (const list of lists) expect(list).toEqual([value]);
});
