/**
 * A hub over the registry of a large fleet: `--only pages` reads every list of 100,000 devices,
 * `--only million` every list of 1,000,000, prepares a job over all, and removes old records.
 */
import { openRegistry } from '@flotilla/registry';
import { eventually } from '@flotilla/test/eventually';
import { ask } from '@flotilla/test/api/graphql-client';
import { makeDataDir, removeDataDir, startHub, type HubProcess } from '@flotilla/test/hub/hub-process';
import pg from 'pg';
import { embeddedDatabaseUrl } from '../embedded-database.js';
import type { Figure } from '../report.js';
import { residentBytes } from '../resident-bytes.js';
import { logger } from '../services.js';
import { fillRegistry, HUNDRED_THOUSAND, MILLION, type RegistrySize } from './fill-registry.js';
import { pageFigures } from './list-pages.js';

const DAY_MS = 86_400_000;
/** Resident memory of the hub is read this often while a job is prepared, ms. */
const SAMPLE_EVERY_MS = 100;

export function benchListPages(): Promise<readonly Figure[]> {
  return overRegistry(HUNDRED_THOUSAND, (hub) => pageFigures(hub, 30));
}

export function benchMillion(): Promise<readonly Figure[]> {
  return overRegistry(MILLION, async (hub) => [
    ...(await pageFigures(hub, 60)),
    ...(await preparedJob(hub)),
    await removedDay(hub),
  ]);
}

async function overRegistry(
  size: RegistrySize,
  measure: (hub: HubProcess) => Promise<readonly Figure[]>,
): Promise<readonly Figure[]> {
  const dataDir = makeDataDir();
  const hub = await startHub({ dataDir, env: { FLOTILLA_LOG_LEVEL: 'warn', FLOTILLA_BUDGET_POINTS: '100000000' } });
  const database = new pg.Client({ connectionString: embeddedDatabaseUrl(hub) });
  try {
    await database.connect();
    await fillRegistry(database, size);
    return await measure(hub);
  } finally {
    await database.end();
    await hub.stop();
    removeDataDir(dataDir);
  }
}

/** A job over all devices, from `createJob` until it is prepared; then it is cancelled. */
async function preparedJob(hub: HubProcess): Promise<readonly Figure[]> {
  const bytesBefore = residentBytes(hub);
  let bytesMost = bytesBefore;
  const sampler = setInterval(() => (bytesMost = Math.max(bytesMost, residentBytes(hub))), SAMPLE_EVERY_MS);
  const from = performance.now();
  const input = { tool: 'bench.tool_1', arguments: {}, devices: { all: true }, perMinute: 1 };
  const { createJob } = await ask<{
    createJob: { job: { id: string } | null; userErrors: readonly { message: string }[] };
  }>(
    hub,
    `mutation ($input: CreateJobInput!) {
      createJob(input: $input, idempotencyKey: "million") { job { id } userErrors { message } }
    }`,
    { input },
  );
  const { job: created, userErrors } = createJob;
  if (created === null) throw new Error(`The job was refused: ${userErrors.map(({ message }) => message).join(' ')}`);
  const { id } = created;
  const isPrepared = () =>
    ask<{ job: { state: string } }>(hub, 'query ($id: ID!) { job(id: $id) { state } }', { id }).then(
      ({ job }) => job.state !== 'PREPARING',
    );
  await eventually(isPrepared, Boolean, 600_000);
  const seconds = (performance.now() - from) / 1_000;
  clearInterval(sampler);
  await ask(hub, 'mutation ($id: ID!) { cancelJob(id: $id) { job { id } } }', { id });
  const job = `job over ${MILLION.devices} devices`;
  return [
    { name: `${job}, prepared`, value: seconds, unit: 's', atMost: 40 },
    { name: `${job}, growth of memory`, value: (bytesMost - bytesBefore) / 2 ** 20, unit: 'MB', atMost: 100 },
  ];
}

/** Removes the calls and events of the oldest day. */
async function removedDay(hub: HubProcess): Promise<Figure> {
  const registry = await openRegistry({ databaseUrl: embeddedDatabaseUrl(hub), dataDir: hub.dataDir, logger });
  try {
    const from = performance.now();
    const kept = {
      recordsMs: (MILLION.days - 1) * DAY_MS,
      jobsMs: 400 * DAY_MS,
      auditMs: 400 * DAY_MS,
      measurementsMs: 400 * DAY_MS,
      rollupsMs: 400 * DAY_MS,
    };
    const { calls = 0, events = 0 } = await registry.removeOld(kept, Date.now());
    if (calls === 0 || events === 0) throw new Error('No partition was old enough.');
    return { name: 'oldest day removed', value: performance.now() - from, unit: 'ms', atMost: 2_000 };
  } finally {
    await registry.close();
  }
}
