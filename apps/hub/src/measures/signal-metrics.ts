/** Metrics of measurements and restarts. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { FleetAggregate } from '@flotilla/registry';
import { answerOr } from '../answer-or.js';

/** The latest values of the fleet, and the restarts that this process judged. */
export interface SignalSources {
  readonly aggregates: () => Promise<readonly FleetAggregate[]>;
  readonly restarts: () => ReadonlyMap<string, number>;
}

/** Aggregates of the fleet, not one series per device. */
export function addSignalMetrics(registry: Registry, { aggregates, restarts }: SignalSources): void {
  const gauge = (name: string, help: string) =>
    new Gauge({ name: `flotilla_measurement_${name}`, help, labelNames: ['path'], registers: [registry] });
  const gauges = {
    min: gauge('min', 'The smallest latest value of the last day over all devices.'),
    mean: gauge('mean', 'The mean of the latest values of the last day over all devices.'),
    max: gauge('max', 'The largest latest value of the last day over all devices.'),
  };
  new Gauge({
    name: 'flotilla_measurement_devices',
    help: 'Devices with a value of the last day.',
    labelNames: ['path'],
    registers: [registry],
    async collect() {
      const rows = await answerOr(aggregates(), []);
      for (const each of [this, ...Object.values(gauges)]) each.reset();
      for (const { path, devices, min, mean, max } of rows) {
        this.set({ path }, devices);
        gauges.min.set({ path }, min);
        gauges.mean.set({ path }, mean);
        gauges.max.set({ path }, max);
      }
    },
  });
  new Counter({
    name: 'flotilla_device_restarts_total',
    help: 'Restarts of devices that this process judged, by what explains them.',
    labelNames: ['cause'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [cause, count] of restarts()) this.inc({ cause: cause.toLowerCase() }, count);
    },
  });
}
