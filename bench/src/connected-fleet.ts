/** Benches (b) to (e) on a built hub: connecting, memory per device, job rate and call latency. */
import pg from 'pg';
import { eventually } from '@flotilla/test/eventually';
import { ask } from '@flotilla/test/api/graphql-client';
import { makeDataDir, removeDataDir, startHub, type HubProcess } from '@flotilla/test/hub/hub-process';
import { startFleet, type SimulatedFleet } from '@flotilla/test/devices/simulated-fleet';
import { embeddedDatabaseUrl } from './embedded-database.js';
import { callOverHttp, type CallLatencies } from './http-calls.js';
import type { Figure } from './report.js';
import { residentBytes } from './resident-bytes.js';

/** Devices that connect at once; this happens twice. */
const STORM_DEVICES = 5_000;

/** Targets in flight of the measured job. The figure depends on it. */
const JOB_MAX_IN_FLIGHT = 2_000;

/** Calls per latency figure. */
const LATENCY_CALLS = { one: 2_000, many: 20_000, besideJobs: 1_000 } as const;

/** Rounds of calls in parallel, after one that warms up the code. An odd number has a median. */
const CALL_ROUNDS = 5;

/** Devices in a separate simulator that are called while jobs run over the others. */
const BYSTANDERS = 32;

export async function benchConnectedFleet(): Promise<readonly Figure[]> {
  const dataDir = makeDataDir();
  const hub = await startHub({ dataDir, env: { FLOTILLA_LOG_LEVEL: 'warn' } });
  const database = new pg.Client({ connectionString: embeddedDatabaseUrl(hub) });
  const fleets: SimulatedFleet[] = [];
  try {
    await database.connect();
    const emptyBytes = residentBytes(hub);
    const figures: Figure[] = [];
    for (const seed of [1, 2]) {
      fleets.push(startFleet(hub, { devices: STORM_DEVICES, seed }));
      const perSecond = await stormRate(database, seed * STORM_DEVICES, `02:00:0${seed}:%`);
      if (seed === 1)
        figures.push({
          name: `${STORM_DEVICES} devices at once, ready with tools stored`,
          value: perSecond,
          unit: 'devices/s',
          atLeast: 1_500,
        });
    }
    const kilobytes = (residentBytes(hub) - emptyBytes) / 1_024 / (2 * STORM_DEVICES);
    figures.push({
      name: `memory of the hub per ready device (${2 * STORM_DEVICES})`,
      value: kilobytes,
      unit: 'KB',
      atMost: 30,
    });
    figures.push(await jobRate(hub, database));
    figures.push(...(await callLatencies(hub)));
    fleets.push(startFleet(hub, { devices: BYSTANDERS, seed: 3 }));
    figures.push(...(await latenciesBesideJobs(hub, database)));
    return figures;
  } finally {
    await database.end();
    await Promise.all(fleets.map((fleet) => fleet.stop()));
    await hub.stop();
    removeDataDir(dataDir);
  }
}

/** Devices per second, from the first connection until PostgreSQL has the last one with tools. */
async function stormRate(database: pg.Client, onlineTotal: number, idPattern: string): Promise<number> {
  const counted = () =>
    database
      .query<{ count: number }>('SELECT count(*)::int AS count FROM device WHERE online AND tool_set_hash IS NOT NULL')
      .then(({ rows }) => rows[0]?.count ?? 0);
  await eventually(counted, (count) => count === onlineTotal, 120_000);
  const endedAt = Date.now();
  const { rows } = await database.query<{ began: Date }>(
    'SELECT min(connected_at) AS began FROM device WHERE id LIKE $1',
    [idPattern],
  );
  return STORM_DEVICES / ((endedAt - (rows[0]?.began.getTime() ?? 0)) / 1_000);
}

/** The median of five jobs of about a second each, after one that warms up the code. */
async function jobRate(hub: HubProcess, database: pg.Client): Promise<Figure> {
  const rates: number[] = [];
  for (const volume of [30, 31, 32, 33, 34, 35])
    rates.push(await volumeJob(hub, database, { volume, devices: { all: true } }));
  const [, , perSecond = 0] = rates.slice(1).sort((a, b) => a - b);
  return {
    name: `job over ${2 * STORM_DEVICES} devices, maxInFlight ${JOB_MAX_IN_FLIGHT}`,
    value: perSecond,
    unit: 'targets/s',
    atLeast: 8_000,
  };
}

/** Targets per second from `createJob` to the last outcome in PostgreSQL. */
async function volumeJob(
  hub: HubProcess,
  database: pg.Client,
  { volume, devices }: { readonly volume: number; readonly devices: Readonly<Record<string, unknown>> },
): Promise<number> {
  const startedAt = performance.now();
  const { createJob } = await ask<{ createJob: { job: { id: string } } }>(
    hub,
    `mutation ($input: CreateJobInput!, $key: String!) {
      createJob(input: $input, idempotencyKey: $key) { job { id } }
    }`,
    {
      input: { tool: 'self.audio_speaker.set_volume', arguments: { volume }, devices, maxInFlight: JOB_MAX_IN_FLIGHT },
      key: `bench-${volume}`,
    },
  );
  const decided = () =>
    database
      .query<{ count: number }>('SELECT coalesce(sum(succeeded), 0)::int AS count FROM job_counter WHERE job_id = $1', [
        createJob.job.id,
      ])
      .then(({ rows }) => rows[0]?.count ?? 0);
  await eventually(decided, (count) => count === 2 * STORM_DEVICES, 120_000);
  return (2 * STORM_DEVICES) / ((performance.now() - startedAt) / 1_000);
}

/** Latencies of calls to devices in a separate process while jobs run over all others. */
async function latenciesBesideJobs(hub: HubProcess, database: pg.Client): Promise<readonly Figure[]> {
  const found = () =>
    database
      .query<{ id: string }>(
        "SELECT id FROM device WHERE id LIKE '02:00:03:%' AND online AND tool_set_hash IS NOT NULL",
      )
      .then(({ rows }) => rows.map(({ id }) => id));
  const ids = await eventually(found, ({ length }) => length === BYSTANDERS, 60_000);
  const tag =
    'mutation ($ids: [ID!]) { tagDevices(input: { filter: { ids: $ids }, add: ["bystander"] }) { changedCount } }';
  await ask(hub, tag, { ids });
  const devices = { not: { tags: ['bystander'] } };
  let isMeasuring = true;
  const load = (async () => {
    for (let volume = 50; isMeasuring && volume < 100; volume++) await volumeJob(hub, database, { volume, devices });
  })();
  const { p50, p99 } = await callOverHttp(hub, ids, { total: LATENCY_CALLS.besideJobs, concurrency: 1 });
  isMeasuring = false;
  await load;
  const name = `callTool over HTTP beside jobs over ${2 * STORM_DEVICES} devices`;
  return [
    { name: `${name}, p50`, value: p50, unit: 'ms' },
    { name: `${name}, p99`, value: p99, unit: 'ms', atMost: 50 },
  ];
}

async function callLatencies(hub: HubProcess): Promise<readonly Figure[]> {
  const { devices } = await ask<{ devices: { nodes: { id: string }[] } }>(
    hub,
    '{ devices(first: 64) { nodes { id } } }',
  );
  const ids = devices.nodes.map((device) => device.id);
  await callOverHttp(hub, ids, { total: LATENCY_CALLS.one, concurrency: 8 });
  const one = await callOverHttp(hub, ids, { total: LATENCY_CALLS.one, concurrency: 1 });
  const rounds: CallLatencies[] = [];
  for (let round = 0; round <= CALL_ROUNDS; round++)
    rounds.push(await callOverHttp(hub, ids, { total: LATENCY_CALLS.many, concurrency: 64 }));
  const many = rounds.slice(1).sort((a, b) => a.perSecond - b.perSecond)[(CALL_ROUNDS - 1) / 2];
  if (many === undefined) throw new TypeError('No round of calls was measured.');
  return [
    { name: 'callTool over HTTP, one at a time, p50', value: one.p50, unit: 'ms' },
    { name: 'callTool over HTTP, one at a time, p99', value: one.p99, unit: 'ms' },
    { name: 'callTool over HTTP, 64 at a time, p50', value: many.p50, unit: 'ms' },
    { name: 'callTool over HTTP, 64 at a time, p99', value: many.p99, unit: 'ms' },
    { name: 'callTool over HTTP, 64 at a time', value: many.perSecond, unit: 'calls/s' },
  ];
}
