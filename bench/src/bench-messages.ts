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
}
