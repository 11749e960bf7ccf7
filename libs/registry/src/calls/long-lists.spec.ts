/** PostgreSQL compares each row with each entry of a list, so repeated entries are left out. */
import { expect, it } from 'vitest';
import type { JobId } from '@flotilla/mcp';
import type { Database, Queryable } from '../database/database.js';
import { DesiredStateReads } from '../desired-states/desired-state-reads.js';
import { JobReads } from '../jobs/reads/job-reads.js';
import { pageOfCalls } from './call-pages.js';

const often = <Value>(value: Value): readonly Value[] => [value, value, value];
const request = { first: 1 };
const id = '01a22298-c13c-7000-8000-0377b650b5be';

it.each([
  ['calls', (db: Queryable) => pageOfCalls(db as Database, { outcomes: often('FAILED') }, request), 'FAILED'],
  ['jobs by state', (db: Queryable) => new JobReads(db).page({ states: often('PAUSED') }, request), 'PAUSED'],
  ['jobs by conclusion', (db: Queryable) => new JobReads(db).count({ conclusions: often('FAILED') }), 'FAILED'],
  [
    'targets',
    (db: Queryable) => new JobReads(db).targets([id as JobId], { outcomes: often('FAILED') }, request),
    'FAILED',
  ],
  ['devices', (db: Queryable) => new DesiredStateReads(db as Database).targets(id, often('HELD'), request), 'HELD'],
] as const)('%s are compared with each value once', async (_list, read, value) => {
  const sent: unknown[] = [];
  const query = async (_statement: unknown, values: unknown[]) => {
    sent.push(...values.filter((each) => Array.isArray(each) && each.includes(value)));
    return [];
  };
  await read({ query });
  expect(sent.length).toBeGreaterThan(0);
  for (const list of sent) expect(list).toEqual([value]);
});
