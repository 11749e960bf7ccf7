import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { addSignalMetrics } from './signal-metrics.js';

const path = 'self.get_device_status:battery.level';
const sample = (name: string) => `flotilla_measurement_${name}{path="${path}"}`;

it('gives each scrape the values of that moment, read once', async () => {
  const registry = new Registry();
  let reads = 0;
  const aggregates = () => {
    reads += 1;
    return Promise.resolve([{ path, devices: 3, min: reads, mean: 10 + reads, max: 20 + reads }]);
  };
  addSignalMetrics(registry, { aggregates, restarts: () => new Map() });
  for (const scrape of [1, 2]) {
    const lines = (await registry.metrics()).split('\n').filter((line) => line.includes(path));
    expect(lines.sort()).toEqual([
      `${sample('devices')} 3`,
      `${sample('max')} ${20 + scrape}`,
      `${sample('mean')} ${10 + scrape}`,
      `${sample('min')} ${scrape}`,
    ]);
    expect(reads).toBe(scrape);
  }
});

it('leaves the values out while PostgreSQL does not answer', async () => {
  const registry = new Registry();
  let isAway = false;
  const aggregates = () =>
    isAway ? Promise.reject(new Error('away')) : Promise.resolve([{ path, devices: 1, min: 1, mean: 1, max: 1 }]);
  addSignalMetrics(registry, { aggregates, restarts: () => new Map() });
  expect(await registry.metrics()).toContain(`${sample('min')} 1`);
  isAway = true;
  expect(await registry.metrics()).not.toContain(path);
});
