/** Roles apart: a process with API and worker, three gateways, Redis and PostgreSQL. */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { eventually } from '@flotilla/test/eventually';
import { ask } from '@flotilla/test/api/graphql-client';
import { makePostgres } from '@flotilla/test/faults/own-postgres';
import { makeDataDir, removeDataDir, startHub, type HubProcess } from '@flotilla/test/hub/hub-process';
import { startRedis } from '@flotilla/test/hub/redis-server';
import type { Figure } from '../report.js';
import { residentBytes } from '../resident-bytes.js';
import { callCost, connectFleet, type CallCost, type MeasuredHub } from './measured-hub.js';
import { processWithArgument } from './processor-time.js';

const GATEWAYS = 3;
/** As many as one process may hold with 20,000 files. */
const DEVICES_PER_GATEWAY = 15_000;
/** Devices with which the hop over Redis is compared with one process. */
const COMPARED_DEVICES = 1_000;
/** CPU of a call over Redis, summed over processes, in CPU of a call in one process. */
const HOP_FACTOR_MAX = 2.2;
/** What the hop may add to the median of calls one at a time, ms. */
const HOP_MS_MAX = 2;
const JOB_WITHIN_MS = 300_000;

export async function measureThreeGateways(inProcess: CallCost): Promise<readonly Figure[]> {
  const dataDir = makeDataDir();
  const closers: (() => Promise<unknown> | void)[] = [() => removeDataDir(dataDir)];
  try {
    const { hub, gateways } = await openProcesses(dataDir, closers);
    const figures: Figure[] = [];
    let total = 0;
    const connect = async (index: number, devices: number, seed: number) => {
      const gateway = gateways[index];
      if (gateway === undefined) throw new Error(`There is no gateway ${index}.`);
      total += devices;
      const { fleet, cost } = await connectFleet(hub, gateway, { devices, total, seed });
      closers.push(() => fleet.stop());
      return cost;
    };
    await connect(0, COMPARED_DEVICES, 1);
    figures.push(...hopFigures(inProcess, await callCost(hub)));
    await connect(0, DEVICES_PER_GATEWAY - COMPARED_DEVICES, 2);
    await connect(1, DEVICES_PER_GATEWAY, 3);
    const last = await connect(2, DEVICES_PER_GATEWAY, 4);
    const cost = await callCost(hub);
    figures.push(
      { name: `${total} devices: the last gateway's, ready`, value: last.perSecond, unit: 'devices/s' },
      { name: `${total} devices: call over Redis, CPU of all`, value: cost.cpuMicroseconds, unit: 'µs' },
      { name: `${total} devices: callTool over HTTP`, value: cost.perSecond, unit: 'calls/s' },
      {
        name: `${total} devices: memory of a gateway per device`,
        value: gateways.reduce((sum, gateway) => sum + residentBytes(gateway), 0) / 1_024 / total,
        unit: 'KB',
      },
      { name: `job over ${total} devices, all succeeded`, value: await jobOverAll(hub.api, total), unit: 'targets/s' },
    );
    return figures;
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

function hopFigures(inProcess: CallCost, overRedis: CallCost): readonly Figure[] {
  const factor = overRedis.cpuMicroseconds / inProcess.cpuMicroseconds;
  const added = overRedis.p50 - inProcess.p50;
  return [
    { name: 'call over Redis, CPU of all processes and Redis', value: overRedis.cpuMicroseconds, unit: 'µs' },
    { name: 'call over Redis / in one process, CPU', value: factor, unit: '', atMost: HOP_FACTOR_MAX },
    { name: 'call over Redis, added to p50', value: added, unit: 'ms', atMost: HOP_MS_MAX },
  ];
}

async function openProcesses(
  dataDir: string,
  closers: (() => Promise<unknown> | void)[],
): Promise<{ readonly hub: MeasuredHub; readonly gateways: readonly HubProcess[] }> {
  const postgres = await makePostgres(path.join(dataDir, 'database'));
  closers.push(() => postgres.stop());
  const redis = await startRedis();
  closers.push(() => redis.stop());
  const env = {
    FLOTILLA_LOG_LEVEL: 'warn',
    FLOTILLA_ADMIN_KEY: randomBytes(32).toString('hex'),
    FLOTILLA_DEVICE_SECRET: randomBytes(32).toString('hex'),
    DATABASE_URL: postgres.urlAt(postgres.port),
    REDIS_URL: redis.url,
  };
  const start = async (name: string, roles: string) => {
    const folder = path.join(dataDir, name);
    mkdirSync(folder);
    const hub = await startHub({ dataDir: folder, env: { ...env, FLOTILLA_ROLES: roles } });
    closers.push(() => hub.stop());
    return hub;
  };
  const api = await start('api', 'api,worker');
  const gateways: HubProcess[] = [];
  for (let index = 0; index < GATEWAYS; index++) gateways.push(await start(`gateway-${index}`, 'gateway'));
  const database = new pg.Client({ connectionString: env.DATABASE_URL });
  await database.connect();
  closers.push(() => database.end());
  const redisPid = processWithArgument('redis-server', `:${new URL(redis.url).port}`);
  const postmaster = processWithArgument('postgres', path.join(dataDir, 'database'));
  const pids = [api.pid, ...gateways.map(({ pid }) => pid), redisPid];
  return { hub: { api, pids, postmaster, database }, gateways };
}

/** Targets per second of a job over all devices. Any other outcome than success ends the bench. */
async function jobOverAll(api: HubProcess, total: number): Promise<number> {
  const startedAt = performance.now();
  const { createJob } = await ask<{ createJob: { job: { id: string } } }>(
    api,
    `mutation ($input: CreateJobInput!) { createJob(input: $input, idempotencyKey: "scale") { job { id } } }`,
    {
      input: {
        tool: 'self.audio_speaker.set_volume',
        arguments: { volume: 30 },
        devices: { all: true },
        maxInFlight: 2_000,
      },
    },
  );
  const state = () =>
    ask<{ job: { state: string; progress: { succeeded: number } } }>(
      api,
      'query ($id: ID!) { job(id: $id) { state progress { succeeded } } }',
      { id: createJob.job.id },
    ).then(({ job }) => job);
  const { progress: counts } = await eventually(state, ({ state }) => state === 'FINISHED', JOB_WITHIN_MS);
  if (counts.succeeded !== total) throw new Error(`${counts.succeeded} of ${total} targets succeeded.`);
  return total / ((performance.now() - startedAt) / 1_000);
}
