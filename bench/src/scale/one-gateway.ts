/** One process with all roles: what a call and a connection cost as devices are added. */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { makeDataDir, removeDataDir, startHub } from '@flotilla/test/hub/hub-process';
import type { SimulatedFleet } from '@flotilla/test/devices/simulated-fleet';
import { embeddedDatabaseUrl } from '../embedded-database.js';
import type { Figure } from '../report.js';
import { residentBytes } from '../resident-bytes.js';
import { callCost, connectFleet, spent, type CallCost, type MeasuredHub } from './measured-hub.js';
import { processWithArgument } from './processor-time.js';

/** Devices at which the costs are measured. */
const SIZES = [1_000, 5_000, 15_000] as const;
/** How much more a call may cost at the largest size than at the smallest. */
const GROWTH_MAX = 1.2;
/** The hub without work, ms. */
const REST_MS = 20_000;

export interface OneGateway {
  readonly figures: readonly Figure[];
  /** At the smallest size. */
  readonly cost: CallCost;
}

export async function measureOneGateway(): Promise<OneGateway> {
  const dataDir = makeDataDir();
  const api = await startHub({ dataDir, embedded: true, env: { FLOTILLA_LOG_LEVEL: 'warn' } });
  const database = new pg.Client({ connectionString: embeddedDatabaseUrl(api) });
  const fleets: SimulatedFleet[] = [];
  try {
    await database.connect();
    const hub: MeasuredHub = { api, pids: [api.pid], postmaster: processWithArgument('postgres', dataDir), database };
    const emptyBytes = residentBytes(api);
    const figures: Figure[] = [];
    const costs: CallCost[] = [];
    for (const [index, total] of SIZES.entries()) {
      const devices = total - (SIZES[index - 1] ?? 0);
      const connected = await connectFleet(hub, api, { devices, total, seed: index + 1 });
      fleets.push(connected.fleet);
      const cost = await callCost(hub);
      costs.push(cost);
      const kilobytes = (residentBytes(api) - emptyBytes) / 1_024 / total;
      figures.push(
        ...[
          { name: 'connection, CPU of the hub', value: connected.cost.cpuMicroseconds, unit: 'µs' },
          { name: 'connection, CPU of PostgreSQL', value: connected.cost.postgresMicroseconds, unit: 'µs' },
          { name: 'call, CPU of the hub', value: cost.cpuMicroseconds, unit: 'µs' },
          { name: 'call, CPU of PostgreSQL', value: cost.postgresMicroseconds, unit: 'µs' },
          { name: 'callTool over HTTP, 64 at a time', value: cost.perSecond, unit: 'calls/s' },
          { name: 'memory of the hub per device', value: kilobytes, unit: 'KB' },
        ].map((figure) => ({ ...figure, name: `${total} devices: ${figure.name}` })),
      );
    }
    const growth = (costs.at(-1)?.cpuMicroseconds ?? 0) / (costs[0]?.cpuMicroseconds ?? 1);
    figures.push({ name: 'growth of CPU per call', value: growth, unit: '', atMost: GROWTH_MAX });
    figures.push({ name: `${SIZES.at(-1)} devices at rest, CPU of the hub`, value: await atRest(hub), unit: '%' });
    for (const table of ['call', 'event', 'device'])
      figures.push({ name: `disk per row of ${table}`, value: await diskPerRow(database, table), unit: 'bytes' });
    const [cost] = costs;
    if (cost === undefined) throw new Error('No size was measured.');
    return { figures, cost };
  } finally {
    await database.end();
    await Promise.all(fleets.map((fleet) => fleet.stop()));
    await api.stop();
    removeDataDir(dataDir);
  }
}

/** With its indexes and partitions. */
async function diskPerRow(database: pg.Client, table: string): Promise<number> {
  const { rows } = await database.query<{ bytes: number }>(
    `SELECT (pg_total_relation_size('${table}'::regclass)
        + coalesce((SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree('${table}')), 0))::float8
      / (SELECT count(*) FROM ${table}) AS bytes`,
  );
  return rows[0]?.bytes ?? 0;
}

/** Percent of one core. */
async function atRest(hub: MeasuredHub): Promise<number> {
  const before = spent(hub);
  await pause(REST_MS);
  return ((spent(hub).hub - before.hub) / (REST_MS * 1_000)) * 100;
}
