/**
 * Counts the bytes of one download and reports them periodically, because devices do not report
 * progress. [xiaozhi §7.6]
 */
import { Transform } from 'node:stream';
import type { TransformCallback } from 'node:stream';
import type { DownloadProgress } from '@flotilla/registry';

export interface DownloadMeterOptions {
  readonly downloadId: string;
  readonly everyMs: number;
  readonly clock: { now(): number };
  /** Resolves when the progress is recorded; never rejects. */
  readonly tell: (progress: DownloadProgress) => Promise<void>;
}

export class DownloadMeter extends Transform {
  #untold = 0;
  #toldAt: number;

  constructor(private readonly options: DownloadMeterOptions) {
    super();
    this.#toldAt = options.clock.now();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#untold += chunk.length;
    if (this.options.clock.now() - this.#toldAt >= this.options.everyMs) void this.tell(false);
    done(null, chunk);
  }

  /**
   * Reports progress since the last report; always at the end of the image or when the device broke
   * off.
   */
  async tell(isComplete: boolean, isBrokenOff = false): Promise<void> {
    const { clock, downloadId, tell } = this.options;
    if (this.#untold === 0 && !isComplete && !isBrokenOff) return;
    const at = clock.now();
    const progress = { id: downloadId, requests: 0, bytes: this.#untold, isComplete, isBrokenOff, at };
    this.#untold = 0;
    this.#toldAt = at;
    await tell(progress);
  }
}
