/** Each list page of a registry with 100,000 devices, as the stores of the API read it, over a real PostgreSQL. `--only pages`. */
import { createHash } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { DeviceId, ToolSetHash } from '@flotilla/mcp';
import { openRegistry, startEmbeddedPostgres, type DeviceFilter, type DeviceOrder, type Page, type Registry } from '@flotilla/registry';
import pg from 'pg';
import type { Figure } from './report.js';

const DEVICES = 100_000;
const EVENTS = 20_000;
/** The longest page that the API gives. */
const ROWS = 200;
/** Of so many reads the middle one counts. */
const READS = 9;
/** At the server, ms. */
const PAGE_MS_MAX = 30;

const ignore = () => undefined;
const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };

const orders: readonly DeviceOrder[] = ['ID_ASC', 'NAME_ASC', 'LAST_SEEN_DESC'];
const filters: Readonly<Record<string, DeviceFilter | undefined>> = {
  'no filter': undefined,
  online: { presence: 'ONLINE' },
  offline: { presence: 'OFFLINE' },
  'a tag': { tags: ['floor-7'] },
  'two tags': { tags: ['floor-7', 'even'] },
  model: { model: 'model-3' },
  version: { firmwareVersion: '2.0.9' },
  'before a version': { firmwareBefore: '2.0.3' },
  'a tool of all': { hasTool: 'bench.common' },
  'a tool of few': { hasTool: 'bench.rare' },
  'seen before': { lastSeenBefore: Date.UTC(2026, 0, 1) + 50_000_000 },
  'search, many': { search: 'device-0' },
  'search, one': { search: 'device-0099999' },
  'search, none': { search: 'nobody at all' },
  'neither model nor tag': { not: { any: [{ model: 'model-3' }, { tags: ['floor-7'] }] } },
};

export async function benchListPages(): Promise<readonly Figure[]> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'flotilla-bench-'));
  await chmod(dataDir, 0o755);
  const postgres = await startEmbeddedPostgres({ dataDir });
  const registry = await openRegistry({ databaseUrl: postgres.databaseUrl, dataDir, logger });
  const lease = await registry.takeLease({ aloneOnDatabase: true });
  try {
    await fill(registry, postgres.databaseUrl, lease.id);
    return await figures(registry);
  } finally {
    await lease.release();
    await registry.close();
    await postgres.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function figures(registry: Registry): Promise<readonly Figure[]> {
  const found: Figure[] = [];
  const add = async (name: string, read: (after: { after?: string }) => Promise<Page<unknown>>) => {
    const first = await read({});
    const after = first.cursors.at(-1);
    found.push(await figure(`page of ${name}`, () => read({})));
    if (first.hasNextPage && after !== undefined) found.push(await figure(`page of ${name}, the next`, () => read({ after })));
  };
  for (const order of orders)
    for (const [name, filter] of Object.entries(filters))
      await add(`devices ${order}, ${name}`, (after) => registry.devices.page(filter, order, { first: ROWS, ...after }));
  const deviceId = 'device-0000007';
  await add('events', (after) => registry.events.page({}, 'AT_DESC', { first: ROWS, ...after }));
  await add('events of a device', (after) => registry.events.page({ deviceId }, 'AT_DESC', { first: ROWS, ...after }));
  await add('tools', (after) => registry.toolSets.fleetTools(undefined, { first: ROWS, ...after }));
  await add('events of a type', (after) => registry.events.page({ types: ['bench.rare'] }, 'AT_DESC', { first: ROWS, ...after }));
  return found;
}

async function figure(name: string, read: () => Promise<unknown>): Promise<Figure> {
  const times: number[] = [];
  for (let time = 0; time < READS; time++) {
    const before = performance.now();
    await read();
    times.push(performance.now() - before);
  }
  times.sort((a, b) => a - b);
  return { name, value: times[Math.floor(READS / 2)] ?? 0, unit: 'ms', atMost: PAGE_MS_MAX };
}

async function fill(registry: Registry, databaseUrl: string, leaseId: string): Promise<void> {
  const hashes = await Promise.all([ensureTools(registry, ['bench.common']), ensureTools(registry, ['bench.common', 'bench.rare'])]);
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  await database.query(
    `INSERT INTO device (id, name, dialect, model, firmware_version, reachability, epoch, online, gateway_id, tool_set_hash, tags, last_seen_at)
     SELECT 'device-' || lpad(n::text, 7, '0'), CASE WHEN n % 2 = 0 THEN 'Lamp ' || md5(n::text) END, 'XIAOZHI', 'model-' || n % 10, '2.0.' || n % 12, 'ALWAYS',
       1, n % 3 > 0, $1, CASE WHEN n % 1000 = 0 THEN $3 ELSE $2 END,
       CASE WHEN n % 2 = 0 THEN ARRAY['floor-' || n % 50, 'even'] ELSE ARRAY['floor-' || n % 50] END, '2026-01-01'::timestamptz + n * interval '1 s'
     FROM generate_series(1, $4::int) AS n`,
    [leaseId, ...hashes, DEVICES],
  );
  for (let n = 0; n < EVENTS; n++) {
    const deviceId = `device-${String(n % 1_000).padStart(7, '0')}` as DeviceId;
    registry.events.append({ type: n % 100 === 0 ? 'bench.rare' : 'bench.common', deviceId, at: Date.now(), data: {} });
    if (n % 1_000 === 0) await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  await database.query('VACUUM ANALYZE');
  await database.end();
}

async function ensureTools(registry: Registry, names: readonly string[]): Promise<ToolSetHash> {
  const tools = names.map((name) => ({ name, description: '', inputSchema: { type: 'object' }, userOnly: false, schemaKnown: true }));
  const hash = createHash('sha256').update(JSON.stringify(tools)).digest('hex') as ToolSetHash;
  await registry.toolSets.ensure({ hash, tools });
  return hash;
}
