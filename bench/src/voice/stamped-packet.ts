/** Packets that carry the moment of their sending. The clock is that of the machine, the same for all its processes. */
import { createHistogram, performance, type RecordableHistogram } from 'node:perf_hooks';

/** As large as 60 ms of Opus speech at 16 kbit/s. */
const PACKET_BYTES = 120;
const SENT_AT = 0;
const IS_COUNTED = 8;

/** Where this process's own count of milliseconds began on that clock. To read the clock itself makes a bigint each time. */
const BEGUN_AT = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** Milliseconds of the monotonic clock. */
export function now(): number {
  return BEGUN_AT + performance.now();
}

/** `isCounted`: sent within the time that is measured; whatever becomes of it belongs to the figures. */
export function stampedPacket(isCounted: boolean): Buffer {
  // Of Node's pool: 16,000 allocations a second of their own would be the bench's garbage in the hub's figures.
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

/** The packets that arrived at one end. */
export class ArrivalLog {
  /** In microseconds: histograms know integers only. */
  readonly #histogram: RecordableHistogram = createHistogram();

  /** Takes a packet, and says whether it counts. */
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
