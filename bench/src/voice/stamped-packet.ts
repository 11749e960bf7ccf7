/** Packets that carry the moment of their sending. The clock is that of the machine, the same for all its processes. */
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';

/** As large as 60 ms of Opus speech at 16 kbit/s. */
const PACKET_BYTES = 120;
const SENT_AT = 0;
const IS_COUNTED = 8;

/** Milliseconds of the monotonic clock. */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** `isCounted`: sent within the time that is measured; whatever becomes of it belongs to the figures. */
export function stampedPacket(isCounted: boolean): Buffer {
  const packet = Buffer.alloc(PACKET_BYTES);
  packet.writeDoubleBE(now(), SENT_AT);
  packet[IS_COUNTED] = isCounted ? 1 : 0;
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
