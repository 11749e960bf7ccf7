/** Packets with the time of sending, by the machine's clock, which all processes share. */
import { createHistogram, performance, type RecordableHistogram } from 'node:perf_hooks';

/** As large as 60 ms of Opus speech at 16 kbit/s. */
const PACKET_BYTES = 120;
const SENT_AT = 0;
const IS_COUNTED = 8;

/** The start of `performance.now` on that clock. Reading the clock itself allocates a bigint. */
const BEGUN_AT = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** Milliseconds of the monotonic clock. */
export function now(): number {
  return BEGUN_AT + performance.now();
}

/** `isCounted`: the packet was sent in the measured time, so its loss counts, too. */
export function stampedPacket(isCounted: boolean): Buffer {
  // From Node's pool: 16,000 separate allocations a second would distort the figures of the hub.
  const packet = Buffer.allocUnsafe(PACKET_BYTES).fill(0);
  packet[IS_COUNTED] = isCounted ? 1 : 0;
  packet.writeDoubleBE(now(), SENT_AT);
  return packet;
}

export interface Arrivals {
  readonly count: number;
  /** Milliseconds from sending to arrival, by quantile. */
  readonly p50: number;
  readonly p99: number;
  readonly most: number;
}

/** Statistics of the packets that arrived at one end. */
export class ArrivalLog {
  /** In microseconds, because histograms take only integers. */
  readonly #histogram: RecordableHistogram = createHistogram();

  /** Takes a packet and returns whether it counts. */
  take(packet: Buffer): boolean {
    if (packet[IS_COUNTED] !== 1) return false;
    this.#histogram.record(Math.max(1, Math.round((now() - packet.readDoubleBE(SENT_AT)) * 1_000)));
    return true;
  }

  summary(): Arrivals {
    const { count, max } = this.#histogram;
    const quantile = (percent: number) => (count === 0 ? Number.NaN : this.#histogram.percentile(percent) / 1_000);
    return { count, p50: quantile(50), p99: quantile(99), most: max / 1_000 };
  }
}
