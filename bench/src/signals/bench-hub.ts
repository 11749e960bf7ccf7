/** A built hub with its embedded PostgreSQL, and a registry of the bench over the same database. */
import { openRegistry, type Registry } from '@flotilla/registry';
import { ask } from '@flotilla/test/api/graphql-client';
import { startFleet, type SimulatedFleet } from '@flotilla/test/devices/simulated-fleet';
import { makeDataDir, removeDataDir, startHub, type HubProcess } from '@flotilla/test/hub/hub-process';
import { online } from '@flotilla/test/jobs/job-api';
import pg from 'pg';
import { embeddedDatabaseUrl } from '../embedded-database.js';
import { logger } from '../services.js';

export interface BenchHub {
  readonly hub: HubProcess;
  readonly registry: Registry;
  readonly database: pg.Client;
}

/** Starts the hub, measures, and stops it. `env` adds settings. */
export async function withHub<Result>(
  measure: (opened: BenchHub) => Promise<Result>,
  env: Readonly<Record<string, string>> = {},
): Promise<Result> {
  const dataDir = makeDataDir();
  const hub = await startHub({ dataDir, env: { FLOTILLA_LOG_LEVEL: 'warn', ...env } });
  const databaseUrl = embeddedDatabaseUrl(hub);
  const database = new pg.Client({ connectionString: databaseUrl });
  const registry = await openRegistry({ databaseUrl, logger });
  try {
    await database.connect();
    return await measure({ hub, registry, database });
  } finally {
    await database.end();
    await registry.close();
    await hub.stop();
    removeDataDir(dataDir);
  }
}

/** Connects `count` devices to a hub that has none, and reads their ids. */
export async function connectDevices(
  hub: HubProcess,
  count: number,
): Promise<{ readonly fleet: SimulatedFleet; readonly ids: readonly string[] }> {
  const fleet = startFleet(hub, { devices: count, seed: 1 });
  await online(hub, count);
  const { devices } = await ask<{ devices: { nodes: { id: string }[] } }>(
    hub,
    `{ devices(first: ${count}) { nodes { id } } }`,
  );
  return { fleet, ids: devices.nodes.map(({ id }) => id) };
}
