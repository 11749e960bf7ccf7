/** Points stored at 20,000 a second beside 1,000 calls a second over HTTP, on the same machine. */
import { setTimeout as pause } from 'node:timers/promises';
import { openRegistry } from '@flotilla/registry';
import { startFleet } from '@flotilla/test/devices/simulated-fleet';
import { makeDataDir, removeDataDir, startHub } from '@flotilla/test/hub/hub-process';
import { online } from '@flotilla/test/jobs/job-api';
import { ask } from '@flotilla/test/api/graphql-client';
import { embeddedDatabaseUrl } from '../embedded-database.js';
import { callOverHttp } from '../http-calls.js';
import type { Figure } from '../report.js';
import { logger } from '../services.js';

const SECONDS = 20;
const POINTS_PER_SECOND = 20_000;
const CALLS_PER_SECOND = 1_000;
const DEVICES = 200;
const STEP_MS = 10;

export async function benchPointsBesideCalls(): Promise<readonly Figure[]> {
  const dataDir = makeDataDir();
  const hub = await startHub({ dataDir, env: { FLOTILLA_LOG_LEVEL: 'warn' } });
  const registry = await openRegistry({ databaseUrl: embeddedDatabaseUrl(hub), logger });
  const fleet = startFleet(hub, { devices: DEVICES, seed: 1 });
  try {
    await online(hub, DEVICES);
    const { devices } = await ask<{ devices: { nodes: { id: string }[] } }>(
      hub,
      `{ devices(first: ${DEVICES}) { nodes { id } } }`,
    );
    const ids = devices.nodes.map(({ id }) => id);
    const { measurements } = registry;
    const from = performance.now();
    let added = 0;
    const points = async () => {
      while (performance.now() - from < SECONDS * 1_000) {
        const due = Math.floor(((performance.now() - from) / 1_000) * POINTS_PER_SECOND);
        for (; added < due; added++)
          measurements.add({
            ...{ deviceId: `bench-${added % 1_000}`, path: `bench.status:p${added % 4}`, at: Date.now() },
            ...{ value: added % 100, ruleId: 'bench' },
          });
        await pause(STEP_MS);
      }
      while (measurements.status().depth > 0) await pause(STEP_MS);
    };
    const load = { total: Infinity, concurrency: 64, seconds: SECONDS, perSecond: CALLS_PER_SECOND };
    const [calls] = await Promise.all([callOverHttp(hub, ids, load), points()]);
    if (measurements.status().droppedTotal > 0) throw new Error('Points were dropped; the figure says nothing.');
    const stored = added / ((performance.now() - from) / 1_000);
    return [
      { name: 'measurements: points stored beside calls', value: stored, unit: 'points/s', atLeast: 19_000 },
      { name: 'measurements: calls beside points', value: calls.perSecond, unit: 'calls/s', atLeast: 950 },
      { name: 'measurements: p99 of calls beside points', value: calls.p99, unit: 'ms' },
    ];
  } finally {
    await fleet.stop();
    await registry.close();
    await hub.stop();
    removeDataDir(dataDir);
  }
}
