import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../database/database.js';
import type { Statement } from '../database/database.js';
import type { CallFilter } from './call-pages.js';
import { openTestDatabase } from '../test-database.js';
import type { TestDatabase } from '../test-database.js';
import { pageOfCalls } from './call-pages.js';

const ROWS = 20;
/** Maximum of index entries and rows of targets that a page may read. */
const VISITED_MAX = (ROWS + 1) * (ROWS + 1) + 5 * ROWS;
const LARGE_JOB = '019aa000-0000-7000-8000-000000000001';
/** Number of jobs of `small`, one per hour, and of `quiet`, which made no calls. */
const SMALL_JOBS = 40;

let opened: TestDatabase;
let database: Database;

const ignore = () => undefined;
const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** One large job of the tool `large`; between its calls are those of the many jobs of `small`. */
beforeAll(async () => {
  opened = await openTestDatabase();
  database = new Database(opened.databaseUrl, 4, logger);
  await database.query(
    {
      text: `INSERT INTO job (id, tool, arguments, devices, state, offline, expires_at, call_timeout_ms, max_in_flight,
               idempotent, created_by, created_by_id, may_call_user_only, request_hash, created_at)
             SELECT CASE WHEN n = 0 THEN $1::uuid ELSE uuid_v7(now() - n * interval '1 hour') END,
               CASE WHEN n = 0 THEN 'large' WHEN n % 2 = 0 THEN 'small' ELSE 'quiet' END, '{}',
               '{"all": true}', CASE WHEN n < 3 THEN 'RUNNING' ELSE 'FINISHED' END::job_state, 'SKIP', now(), 5000, 100,
               true, 'spec', 'KEY:spec', false, 'h', now()
             FROM generate_series(0, $2::int * 2) AS n`,
    },
    [LARGE_JOB, SMALL_JOBS],
  );
  await database.query(
    {
      text: `INSERT INTO job_target (job_id, device_id, ordinal, state, outcome, certainty, attempts, claim, call_id,
               started_at, decided_at)
             SELECT j.id, 'd' || lpad(n::text, 5, '0'), n, 'DECIDED',
               CASE WHEN n % 500 = 7 THEN 'FAILED' ELSE 'SUCCEEDED' END::outcome, 'YES', 1, 1,
               CASE WHEN n % 10 <> 1 THEN uuid_v7(
                 now() - (CASE WHEN j.tool = 'large' THEN n ELSE 60 * n END + random()) * interval '1 minute') END,
               now(), now()
             FROM job j, generate_series(1, CASE j.tool WHEN 'large' THEN 6000 WHEN 'small' THEN 60 ELSE 0 END) AS n`,
    },
    [],
  );
  await database.query(
    {
      text: `UPDATE job_target SET state = (ARRAY['DISPATCHING', 'SENT', 'VERIFYING'])[1 + ordinal % 3]::target_state,
               outcome = NULL
             WHERE ordinal BETWEEN 30 AND 40 AND job_id IN (SELECT id FROM job WHERE state = 'RUNNING')`,
    },
    [],
  );
  await database.query({ text: 'VACUUM ANALYZE' }, []);
});

afterAll(async () => {
  await database.close();
  await opened.close();
});

interface PlanNode {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

function visitedBy(node: PlanNode): number {
  const own = /^job_target/.test(node['Relation Name'] ?? '')
    ? (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
    : 0;
  return (node.Plans ?? []).reduce((sum, plan) => sum + visitedBy(plan), own);
}

/** Ids of all pages, and the most that one of the first two looked at. */
async function read(filter: CallFilter): Promise<{ readonly ids: readonly string[]; readonly visited: number }> {
  let visited = 0;
  const watched = {
    query: async ({ text }: Statement, values: unknown[]) => {
      const explain = { text: `EXPLAIN (ANALYZE, FORMAT JSON) ${text}` };
      const [explained] = await database.query<{ 'QUERY PLAN': readonly { readonly Plan: PlanNode }[] }>(
        explain,
        values,
      );
      for (const { Plan: plan } of explained?.['QUERY PLAN'] ?? []) visited = Math.max(visited, visitedBy(plan));
      return database.query({ text }, values);
    },
  } as Pick<Database, 'query'> as Database;
  const ids: string[] = [];
  for (let after: string | undefined, page = 0; ; page++) {
    const { rows, cursors, hasNextPage } = await pageOfCalls(page < 2 ? watched : database, filter, {
      first: ROWS,
      ...(after !== undefined && { after }),
    });
    ids.push(...rows.map(({ id }) => id));
    if (!hasNextPage) return { ids, visited };
    after = cursors.at(-1);
  }
}

async function idsOf(condition: string): Promise<readonly string[]> {
  const text = `SELECT t.call_id AS id FROM job_target t JOIN job j ON j.id = t.job_id
    WHERE t.call_id IS NOT NULL AND t.state <> 'DISPATCHING' AND ${condition} ORDER BY t.call_id DESC`;
  return (await database.query<{ id: string }>({ text }, [])).map(({ id }) => id);
}

describe('a page of calls', () => {
  it.each<[string, CallFilter, string]>([
    ['a tool of many jobs', { tool: 'small' }, `j.tool = 'small'`],
    ['a tool of one large job', { tool: 'large' }, `j.tool = 'large'`],
    ['a tool whose jobs made no calls', { tool: 'quiet' }, 'false'],
    ['one job', { jobId: LARGE_JOB }, `j.tool = 'large'`],
    ['a device, by one tool', { deviceId: 'd00013', tool: 'small' }, `t.device_id = 'd00013' AND j.tool = 'small'`],
    [
      'those that failed, of a tool',
      { tool: 'large', outcomes: ['FAILED'] },
      `j.tool = 'large' AND t.outcome = 'FAILED'`,
    ],
    ['all', {}, 'true'],
  ])('has those of %s, latest first, and looks at few others', async (_what, filter, condition) => {
    const { ids, visited } = await read(filter);
    expect(ids).toEqual(await idsOf(condition));
    expect(visited).toBeLessThanOrEqual(VISITED_MAX);
  });
});
