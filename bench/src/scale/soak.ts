/** Memory of a hub over time, with connections that are lost, calls, jobs and reads of lists. */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { ask } from '@flotilla/test/api/graphql-client';
import { makeDataDir, removeDataDir, startHub, type HubProcess } from '@flotilla/test/hub/hub-process';
import { embeddedDatabaseUrl } from '../embedded-database.js';
import { callOverHttp } from '../http-calls.js';
import type { Figure } from '../report.js';
import { residentBytes } from '../resident-bytes.js';
import { connectFleet, type MeasuredHub } from './measured-hub.js';
import { processWithArgument } from './processor-time.js';

const DEVICES = 2_000;
/** Devices that lose their connection in each round. */
const LOST = 100;
const ROUND_MS = 5_000;
const CALLS_PER_ROUND = 2_000;
/** Caches and the heap fill in this share of the time, which does not count. */
const WARM_UP_SHARE = 1 / 3;
/** A hub that loses no memory still grows and shrinks with its garbage. */
const SLOPE_MAX = 10;

export async function benchSoak(minutes: number): Promise<readonly Figure[]> {
  const dataDir = makeDataDir();
  const api = await startHub({ dataDir, embedded: true, env: { FLOTILLA_LOG_LEVEL: 'warn' } });
  const database = new pg.Client({ connectionString: embeddedDatabaseUrl(api) });
  const closers: (() => Promise<unknown>)[] = [];
  try {
    await database.connect();
    const hub: MeasuredHub = { api, pids: [api.pid], postmaster: processWithArgument('postgres', dataDir), database };
    const { fleet } = await connectFleet(hub, api, { devices: DEVICES, total: DEVICES, seed: 1 });
    closers.push(() => fleet.stop());
    const { rows } = await database.query<{ id: string }>('SELECT id FROM device ORDER BY id');
    const ids = rows.map(({ id }) => id);
    const samples: { readonly hours: number; readonly megabytes: number }[] = [];
    const startedAt = performance.now();
    const endsAt = startedAt + minutes * 60_000;
    let rounds = 0;
    for (; performance.now() < endsAt; rounds++) {
      const roundEndsAt = performance.now() + ROUND_MS;
      const first = (rounds * LOST) % DEVICES;
      for (const device of ids.slice(first, first + LOST))
        fleet.command({ cmd: 'disconnect', device, how: 'abrupt', forMs: 1_000 });
      const others = [...ids.slice(0, first), ...ids.slice(first + LOST)];
      await callOverHttp(api, others, { total: CALLS_PER_ROUND, concurrency: 16 });
      await runJob(api, rounds);
      await pause(Math.max(0, roundEndsAt - performance.now()));
      samples.push({ hours: (performance.now() - startedAt) / 3_600_000, megabytes: residentBytes(api) / 2 ** 20 });
    }
    const counted = samples.slice(Math.floor(samples.length * WARM_UP_SHARE));
    return [
      { name: `soak of ${minutes} minutes: calls`, value: rounds * CALLS_PER_ROUND, unit: '' },
      { name: 'soak: connections lost and made again', value: rounds * LOST, unit: '' },
      { name: 'soak: memory of the hub at the end', value: samples.at(-1)?.megabytes ?? 0, unit: 'MB' },
      {
        name: 'soak: slope of memory after a third of the time',
        value: slope(counted),
        unit: 'MB/h',
        atMost: SLOPE_MAX,
      },
    ];
  } finally {
    await database.end();
    for (const close of closers) await close();
    await api.stop();
    removeDataDir(dataDir);
  }
}

async function runJob(api: HubProcess, round: number): Promise<void> {
  await ask(
    api,
    `mutation ($input: CreateJobInput!, $key: String!) {
      createJob(input: $input, idempotencyKey: $key) { job { id } }
    }`,
    {
      input: { tool: 'self.audio_speaker.set_volume', arguments: { volume: round % 100 }, devices: { all: true } },
      key: `soak-${round}`,
    },
  );
  await ask(api, '{ devices(first: 100) { nodes { id name tools { name } } } events(first: 100) { nodes { type } } }');
}

/** Of the line with the smallest squares. */
function slope(samples: readonly { readonly hours: number; readonly megabytes: number }[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const hours = mean(samples.map((sample) => sample.hours));
  const megabytes = mean(samples.map((sample) => sample.megabytes));
  const covariance = mean(samples.map((sample) => (sample.hours - hours) * (sample.megabytes - megabytes)));
  return covariance / mean(samples.map((sample) => (sample.hours - hours) ** 2));
}
