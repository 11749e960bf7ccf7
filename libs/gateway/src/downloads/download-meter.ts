/**
 * Counts the bytes of one download and reports them periodically, because devices do not report
 * progress. [xiaozhi §7.6]
 */
import { Transform } from 'node:stream';
import type { TransformCallback } from 'node:stream';
import type { DownloadProgress } from '@flotilla/registry';

interface DownloadMeterOptions {
  readonly downloadId: string;
  readonly everyMs: number;
  readonly clock: { now(): number };
  /** Resolves when the progress is recorded; never rejects. */
  readonly report: (progress: DownloadProgress) => Promise<void>;
}

export class DownloadMeter extends Transform {
  #unreported = 0;
  #reportedAt: number;

  constructor(private readonly options: DownloadMeterOptions) {
    super();
    this.#reportedAt = options.clock.now();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#unreported += chunk.length;
    if (this.#isDue) void this.report(false);
    done(null, chunk);
  }

  get #isDue(): boolean {
    const now = this.options.clock.now();
    // The last report is later than now if the clock was set back.
    return now < this.#reportedAt || now - this.#reportedAt >= this.options.everyMs;
  }

  /** Reports new progress; always at the end of the image, or of a download before it. */
  async report(isComplete: boolean, end: Pick<DownloadProgress, 'isBrokenOff' | 'serverId'> = {}): Promise<void> {
    const { clock, downloadId, report } = this.options;
    const isOver = isComplete || end.isBrokenOff === true || end.serverId !== undefined;
    if (this.#unreported === 0 && !isOver) return;
    const at = clock.now();
    const progress = { id: downloadId, requests: 0, bytes: this.#unreported, isComplete, ...end, at };
    this.#unreported = 0;
    this.#reportedAt = at;
    await report(progress);
  }
}
