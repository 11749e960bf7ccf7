/** A hub of the scale bench: connects devices, makes calls, and measures what both cost. */
import type pg from 'pg';
import { eventually } from '@flotilla/test/eventually';
import { startFleet, type SimulatedFleet } from '@flotilla/test/devices/simulated-fleet';
import type { HubProcess } from '@flotilla/test/hub/hub-process';
import { callOverHttp, type CallLatencies } from '../http-calls.js';
import { processorMicroseconds, withChildren } from './processor-time.js';

/** Calls of one figure; before them a tenth as many warm up. */
const CALLS = 20_000;
const CONCURRENCY = 64;
const CALLS_ONE_AT_A_TIME = 2_000;
const CONNECTED_WITHIN_MS = 300_000;

/** The processes that are measured. */
export interface MeasuredHub {
  /** Answers callers. */
  readonly api: HubProcess;
  /** All processes of the hub, and its Redis where there is one. */
  readonly pids: readonly number[];
  readonly postmaster: number;
  readonly database: pg.Client;
}

export interface CallCost {
  readonly cpuMicroseconds: number;
  readonly postgresMicroseconds: number;
  readonly perSecond: number;
  /** Of calls one at a time, ms. */
  readonly p50: number;
}

/** CPU of one more device, and of all devices per second while nothing happens. */
export interface ConnectionCost {
  readonly cpuMicroseconds: number;
  readonly postgresMicroseconds: number;
  readonly perSecond: number;
}

/** Connects `devices` more, and waits until all `total` are online with their tools. */
export async function connectFleet(
  hub: MeasuredHub,
  gateway: Pick<HubProcess, 'httpPort' | 'mqttPort' | 'deviceSecret' | 'dataDir'>,
  { devices, total, seed }: { readonly devices: number; readonly total: number; readonly seed: number },
): Promise<{ readonly fleet: SimulatedFleet; readonly cost: ConnectionCost }> {
  const before = spent(hub);
  const startedAt = performance.now();
  const fleet = startFleet(gateway, { devices, seed });
  const online = () =>
    hub.database
      .query<{ count: number }>('SELECT count(*)::int AS count FROM device WHERE online AND tool_set_hash IS NOT NULL')
      .then(({ rows }) => rows[0]?.count ?? 0);
  await eventually(online, (count) => count === total, CONNECTED_WITHIN_MS);
  const after = spent(hub);
  const seconds = (performance.now() - startedAt) / 1_000;
  return {
    fleet,
    cost: {
      cpuMicroseconds: (after.hub - before.hub) / devices,
      postgresMicroseconds: (after.postgres - before.postgres) / devices,
      perSecond: devices / seconds,
    },
  };
}

/** Calls spread over all devices. */
export async function callCost(hub: MeasuredHub): Promise<CallCost> {
  const { rows } = await hub.database.query<{ id: string }>('SELECT id FROM device WHERE online ORDER BY md5(id)');
  const ids = rows.map(({ id }) => id);
  const run = (total: number, concurrency: number): Promise<CallLatencies> =>
    callOverHttp(hub.api, ids, { total, concurrency });
  await run(CALLS / 10, CONCURRENCY);
  const before = spent(hub);
  const { perSecond } = await run(CALLS, CONCURRENCY);
  const after = spent(hub);
  const { p50 } = await run(CALLS_ONE_AT_A_TIME, 1);
  return {
    cpuMicroseconds: (after.hub - before.hub) / CALLS,
    postgresMicroseconds: (after.postgres - before.postgres) / CALLS,
    perSecond,
    p50,
  };
}

/** CPU of the hub so far, and that of its PostgreSQL, microseconds. */
export function spent({ pids, postmaster }: MeasuredHub): { readonly hub: number; readonly postgres: number } {
  return { hub: processorMicroseconds(pids), postgres: processorMicroseconds(withChildren(postmaster)) };
}
