import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../database/database.js';
import type { Statement } from '../database/database.js';
import type { DeviceFilter } from '../device-filter.js';
import type { DeviceOrder } from './device-pages.js';
import { openRegistry } from '../index.js';
import type { Registry } from '../index.js';
import { openTestDatabase } from '../test-database.js';
import type { TestDatabase } from '../test-database.js';
import { pageOfDevices } from './device-pages.js';

const DEVICES = 6_000;
const ROWS = 20;
/** Maximum of rows that a page may read for one condition: a page for each of 16 values. */
const VISITED_MAX = 16 * (ROWS + 1);
/** One condition by its index, the other one on those. */
const VISITED_BY_TWO_MAX = DEVICES / 6;
/** The order by last contact has no combined index, so rare devices are searched among all. */
const VISITED_BY_LAST_SEEN_MAX = DEVICES / 3;

let opened: TestDatabase;
let registry: Registry;
let database: Database;

const ignore = () => undefined;
const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** Half of the devices have a name; most filters match the others. Ids of a model are adjacent. */
beforeAll(async () => {
  opened = await openTestDatabase();
  registry = await openRegistry({ databaseUrl: opened.databaseUrl });
  const lease = await registry.takeLease();
  database = new Database(opened.databaseUrl, 4, logger);
  const sets = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(64));
  const tools = [['common'], ['common', 'rare'], ['common', 'some'], ['common', 'some']];
  await database.query(
    {
      text: `WITH sets AS (INSERT INTO tool_set (hash) SELECT unnest($1::text[]))
             INSERT INTO tool (tool_set_hash, position, name, description, input_schema, schema_hash, user_only,
               schema_known)
             SELECT hash, place, name, '', '{}', 'h', false, true
             FROM json_to_recordset($2) AS i(hash text, place int, name text)`,
    },
    [
      sets,
      JSON.stringify(tools.flatMap((names, set) => names.map((name, place) => ({ hash: sets[set], place, name })))),
    ],
  );
  await database.query(
    {
      text: `INSERT INTO device (id, name, dialect, model, firmware_version, reachability, transport, epoch,
               online, gateway_id, tool_set_hash, tags, last_seen_at)
             SELECT 'd' || lpad(n::text, 6, '0'), CASE WHEN n % 2 = 0 THEN 'Lamp ' || md5(n::text) END,
               CASE WHEN n % 100 = 1 THEN 'MCPU' ELSE 'XIAOZHI' END::dialect,
               CASE WHEN n % ($2 / 3) = 1 THEN 'three' WHEN n > $2 * 0.95 THEN 'last' ELSE 'model-' || n % 10 END,
               '2.0.' || n % 12, 'ALWAYS',
               CASE WHEN n % 4 = 1 THEN 'WEBSOCKET' ELSE 'MQTT' END::transport_kind, 1, n % ($2 / 3) <> 1, $1,
               ($3::text[])[CASE WHEN n % 500 = 0 THEN 2 WHEN n % 20 = 1 THEN 3 WHEN n % 20 = 3 THEN 4 ELSE 1 END],
               CASE WHEN n % ($2 / 3) = 1 THEN ARRAY['three']
                 ELSE ARRAY['floor-' || n % 50, CASE WHEN n % 2 = 0 THEN 'even' ELSE 'odd' END] END,
               '2026-01-01'::timestamptz + n * interval '1 s'
             FROM generate_series(1, $2::int) AS n`,
    },
    [lease.id, DEVICES, sets],
  );
  await database.query({ text: 'VACUUM ANALYZE' }, []);
});

afterAll(async () => {
  await database.close();
  await registry.close();
  await opened.close();
});

interface PlanNode {
  readonly 'Relation Name'?: string;
  readonly 'Node Type': string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

function nodesOf(node: PlanNode): readonly PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

/** The larger number of rows that the first two pages read, and how they were found. */
async function lookAt(
  filter: DeviceFilter | undefined,
  order: DeviceOrder,
): Promise<{ readonly visited: number; readonly scans: string[] }> {
  const looks: { readonly visited: number; readonly scans: string[] }[] = [];
  const watched = {
    query: async ({ text }: Statement, values: unknown[]) => {
      const [explained] = await database.query<{ 'QUERY PLAN': readonly { readonly Plan: PlanNode }[] }>(
        { text: `EXPLAIN (ANALYZE, FORMAT JSON) ${text}` },
        values,
      );
      const nodes = explained?.['QUERY PLAN'].flatMap(({ Plan: plan }) => nodesOf(plan)) ?? [];
      const scans = nodes.filter((node) => /^device(_tag)?$/.test(node['Relation Name'] ?? ''));
      const rowsOf = (node: PlanNode): number =>
        (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)) *
        node['Actual Loops'];
      looks.push({
        visited: scans.reduce((sum, node) => sum + rowsOf(node), 0),
        scans: scans.map((node) => node['Node Type']),
      });
      return database.query({ text }, values);
    },
  } as Pick<Database, 'query'> as Database;
  const first = await pageOfDevices(watched, filter, order, { first: ROWS });
  if (first.hasNextPage)
    await pageOfDevices(watched, filter, order, { first: ROWS, after: first.cursors.at(-1) ?? '' });
  return { visited: Math.max(...looks.map(({ visited }) => visited)), scans: looks.flatMap(({ scans }) => scans) };
}

const at = (seconds: number): number => Date.UTC(2026, 0, 1) + seconds * 1_000;
const filters: Readonly<Record<string, DeviceFilter | undefined>> = {
  'no filter': undefined,
  ids: { ids: ['d000007', 'd004000', 'unknown'] },
  'online, all but three': { presence: 'ONLINE' },
  'offline, three': { presence: 'OFFLINE' },
  'a tag of fifty': { tags: ['floor-7'] },
  'a tag of half': { tags: ['odd'] },
  'a tag of three': { tags: ['three'] },
  'two tags': { tags: ['floor-7', 'odd'] },
  'a model of ten': { model: 'model-3' },
  'a model at the end': { model: 'last' },
  'a model of three': { model: 'three' },
  'a version of twelve': { firmwareVersion: '2.0.9' },
  'before a version': { firmwareBefore: '2.0.3' },
  'before all versions': { firmwareBefore: '1.0' },
  'before none': { firmwareBefore: '9.9' },
  'a tool of all': { hasTool: 'common' },
  'a tool of some': { hasTool: 'some' },
  'a tool of few': { hasTool: 'rare' },
  'a tool of none': { hasTool: 'nothing' },
  'a dialect of few': { dialect: 'MCPU' },
  'a transport': { transport: 'WEBSOCKET' },
  'stale tools': { toolsStale: true },
  'seen before, all': { lastSeenBefore: at(DEVICES) },
  'seen before, few': { lastSeenBefore: at(40) },
  'a search for one': { search: 'D000977' },
  'a search without results': { search: 'unknown device' },
  'any of two': { any: [{ model: 'three' }, { tags: ['three'] }] },
  'neither of two': { not: { any: [{ model: 'model-3' }, { tags: ['floor-7'] }] } },
  'nested twice': { not: { any: [{ not: { model: 'three' } }, { not: { dialect: 'MCPU' } }] }, model: 'three' },
};
const pairs: typeof filters = {
  'model and version': { model: 'model-3', firmwareVersion: '2.0.9' },
  'model and online': { model: 'model-3', presence: 'ONLINE' },
  'tag and online': { tags: ['floor-7'], presence: 'ONLINE' },
  'tag and model': { tags: ['odd'], model: 'model-3' },
  'tool and version': { hasTool: 'common', firmwareVersion: '2.0.3' },
  'narrowed by a tag': { within: { tags: ['floor-7'] }, any: [{}] },
  'narrowed by a tag, a model': { within: { tags: ['odd'] }, any: [{ model: 'model-3' }] },
};

it('shows connected devices as seen within the last minute, and first in the order by last contact', async () => {
  const seen = async (filter: DeviceFilter) =>
    (await pageOfDevices(database, filter, 'LAST_SEEN_DESC', { first: ROWS })).rows.map(
      ({ presence, lastSeenAt }) => [presence, lastSeenAt] as const,
    );
  // The three that are offline were seen last at times between those of the others.
  const rows = await seen({ any: [{ tags: ['three'] }, { ids: ['d000002', 'd000500'] }] });
  expect(rows.map(([presence]) => presence)).toEqual(['ONLINE', 'ONLINE', 'OFFLINE', 'OFFLINE', 'OFFLINE']);
  for (const [presence, lastSeenAt = 0] of rows) {
    if (presence === 'ONLINE') expect(Math.abs(Date.now() - lastSeenAt)).toBeLessThan(60_000);
    else expect(lastSeenAt).toBeLessThan(at(DEVICES + 1));
  }
  const offline = rows.slice(2).map(([, lastSeenAt = 0]) => lastSeenAt);
  expect(offline).toEqual([...offline].sort((one, other) => other - one));
});

const orders: readonly DeviceOrder[] = ['ID_ASC', 'NAME_ASC', 'LAST_SEEN_DESC'];

describe.each(orders)('a page of devices, %s', (order) => {
  const cases = [
    ...Object.entries(filters).map(([name, filter]) => ({ name, filter, visitedMax: VISITED_MAX })),
    ...Object.entries(pairs).map(([name, filter]) => ({ name, filter, visitedMax: VISITED_BY_TWO_MAX })),
  ];

  it.each(cases)('looks at few of them: $name', async ({ filter, visitedMax }) => {
    const { visited, scans } = await lookAt(filter, order);
    expect(scans).not.toContain('Seq Scan');
    expect(visited).toBeLessThanOrEqual(order === 'LAST_SEEN_DESC' ? VISITED_BY_LAST_SEEN_MAX : visitedMax);
  });

  it.each(cases)('has the devices that a count finds, once each: $name', async ({ filter }) => {
    const found: string[] = [];
    for (let after: string | undefined; ;) {
      const page = await pageOfDevices(database, filter, order, {
        first: 1_000,
        ...(after === undefined ? {} : { after }),
      });
      found.push(...page.rows.map(({ id }) => id));
      if (!page.hasNextPage) break;
      after = page.cursors.at(-1);
    }
    expect(found).toHaveLength((await registry.devices.count(filter)) ?? -1);
    expect(new Set(found).size).toBe(found.length);
  });
});
