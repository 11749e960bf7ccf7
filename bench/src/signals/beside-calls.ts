/** Points stored at 20,000 a second beside 1,000 calls a second over HTTP, on the same machine. */
import { setTimeout as pause } from 'node:timers/promises';
import { callOverHttp } from '../http-calls.js';
import type { Figure } from '../report.js';
import { connectDevices, withHub } from './bench-hub.js';

const SECONDS = 20;
const POINTS_PER_SECOND = 20_000;
const CALLS_PER_SECOND = 1_000;
const DEVICES = 200;
const STEP_MS = 10;

export function benchPointsBesideCalls(): Promise<readonly Figure[]> {
  return withHub(async ({ hub, registry: { measurements } }) => {
    const { fleet, ids } = await connectDevices(hub, DEVICES);
    const from = performance.now();
    let added = 0;
    let stored = 0;
    const points = async () => {
      while (performance.now() - from < SECONDS * 1_000) {
        const due = Math.floor(((performance.now() - from) / 1_000) * POINTS_PER_SECOND);
        for (; added < due; added++)
          measurements.add({
            deviceId: `bench-${added % 1_000}`,
            path: `bench.status:p${added % 4}`,
            at: Date.now(),
            value: added % 100,
            ruleId: 'bench',
          });
        await pause(STEP_MS);
      }
      while (measurements.status().depth > 0) await pause(STEP_MS);
      stored = added / ((performance.now() - from) / 1_000);
    };
    const load = { total: Infinity, concurrency: 64, seconds: SECONDS, perSecond: CALLS_PER_SECOND };
    const [calls] = await Promise.all([callOverHttp(hub, ids, load), points()]).finally(() => fleet.stop());
    if (measurements.status().droppedTotal > 0) throw new Error('Points were dropped; the figure says nothing.');
    return [
      { name: 'measurements: points stored beside calls', value: stored, unit: 'points/s', atLeast: 19_000 },
      { name: 'measurements: calls beside points', value: calls.perSecond, unit: 'calls/s', atLeast: 950 },
      { name: 'measurements: p99 of calls beside points', value: calls.p99, unit: 'ms' },
    ];
  });
}
