/** Metrics of measurements and restarts. */
import { Gauge, type Registry } from 'prom-client';
import type { FleetAggregate } from '@flotilla/registry';
import { answerOr } from '../answer-or.js';
import { addTotals } from './metric-kinds.js';

/** The latest values of the fleet, and the restarts that this process judged. */
export interface SignalSources {
  readonly aggregates: () => Promise<readonly FleetAggregate[]>;
  readonly restarts: () => ReadonlyMap<string, number>;
}

/** Aggregates of the fleet, not one series per device. */
export function addSignalMetrics(registry: Registry, { aggregates, restarts }: SignalSources): void {
  let reading: Promise<readonly FleetAggregate[]> | undefined;
  // One statement for the gauges of a scrape.
  const read = () => (reading ??= answerOr(aggregates(), []).finally(() => (reading = undefined)));
  const gauge = (name: 'min' | 'mean' | 'max' | 'devices', help: string) =>
    new Gauge({
      name: `flotilla_measurement_${name}`,
      help,
      labelNames: ['path'],
      registers: [registry],
      async collect() {
        const rows = await read();
        this.reset();
        for (const row of rows) this.set({ path: row.path }, row[name]);
      },
    });
  gauge('min', 'The smallest latest value of the last day over all devices.');
  gauge('mean', 'The mean of the latest values of the last day over all devices.');
  gauge('max', 'The largest latest value of the last day over all devices.');
  gauge('devices', 'Devices with a value of the last day.');
  const judged = {
    name: 'flotilla_device_restarts_total',
    help: 'Restarts of devices that this process judged, by what explains them.',
    label: 'cause',
  };
  addTotals(registry, judged, () => [...restarts()].map(([cause, count]) => [cause.toLowerCase(), count]));
}
