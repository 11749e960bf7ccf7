/** What the bench and its child processes say to each other. */
import type { RoundTrips } from './round-trips.js';

/** Secret of the benches' simulated devices; nothing outside this machine ever connects with it. */
export const BENCH_DEVICE_SECRET = 'bench-device-secret';

/** To a child: measure now. */
export interface MeasureRequest {
  readonly seconds: number;
  readonly warmupSeconds: number;
}

/** From a child, as it comes to know: its port, the devices that are connected, the result. */
export interface ChildNews {
  readonly port?: number;
  readonly connected?: number;
  readonly result?: RoundTrips;
  readonly scale?: JobScale;
  readonly rest?: RestCost;
}

/** What a job of 100,000 targets took. */
export interface JobScale {
  readonly prepareMs: number;
  /** Targets per second, from `createJob` to the end. */
  readonly perSecond: number;
  readonly commits: number;
  /** Growth of resident memory, at its most. */
  readonly memoryBytes: number;
  /** From `cancelJob` to the end, none sent. */
  readonly cancelMs: number;
}

/** What a desired state costs while nothing happens. */
export interface RestCost {
  readonly devices: number;
  /** Of one core, without PostgreSQL. */
  readonly cpuPercent: number;
  readonly sets: number;
  readonly readsPerSecond: number;
  /** Growth of resident memory. */
  readonly memoryBytes: number;
}
