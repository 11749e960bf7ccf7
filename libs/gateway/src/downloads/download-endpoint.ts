/**
 * `GET /t/download/<token>`: a device fetches the image that it should install, whole or in ranges.
 * The firmware sends no credential, so the signed address is the only proof [xiaozhi §6.4]. It
 * names one device and one job, expires, and ends with the image's withdrawal.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { downloadLoop } from '@flotilla/firmware';
import type { HubProcessId } from '@flotilla/mcp';
import { NO_PROCESS } from '@flotilla/registry';
import type { DownloadProgress, DownloadRow, FirmwareImageRow, Registry } from '@flotilla/registry';
import { withTimeout } from '@flotilla/session';
import type { Clock } from '@flotilla/session';
import type { BlobStore } from '@flotilla/storage';
import parseRange from 'range-parser';
import type { UrlSigner } from '../device-urls/url-signer.js';
import type { GatewayLogger } from '../gateway-logger.js';
import type { EventLog } from '../sessions/event-log.js';
import type { DownloadLimits } from './download-limits.js';
import { ImageIntegrity } from './image-integrity.js';
import type { FoundBytes } from './image-integrity.js';
import { DownloadMeter } from './download-meter.js';

interface DownloadEndpointOptions {
  /** This process. */
  readonly serverId: HubProcessId;
  readonly registry: Pick<Registry, 'downloads'>;
  readonly blobs: Pick<BlobStore, 'read'>;
  readonly signer: UrlSigner;
  readonly events: EventLog;
  readonly limits: DownloadLimits;
  readonly clock: Clock;
  readonly logger: GatewayLogger;
  readonly count: (outcome: DownloadOutcome) => void;
}

export type DownloadOutcome =
  'served' | 'broken_off' | 'unknown' | 'gone' | 'full' | 'unavailable' | 'range_refused' | 'corrupt';

interface Part {
  readonly status: 200 | 206;
  readonly start: number;
  /** The last byte, inclusive. */
  readonly end: number;
}

/** When a rejected device may retry, s. */
const RETRY_AFTER_SECONDS = 30;

export class DownloadEndpoint {
  #running = 0;
  readonly #integrity: ImageIntegrity;
  #isStopping = false;

  constructor(private readonly options: DownloadEndpointOptions) {
    this.#integrity = new ImageIntegrity({
      blobs: options.blobs,
      onCorrupt: (image, found) => this.#corrupt(image, found),
    });
  }

  get running(): number {
    return this.#running;
  }

  /** From now on the process itself cuts downloads: none counts as broken off by its device. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Never rejects. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => undefined);
    try {
      await this.#answer(request, response);
    } catch (error) {
      this.options.logger.warn({ err: error }, 'could not serve a download');
      this.#refuse(response, 503, 'unavailable', 'The hub cannot read the image now. Try again.');
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { clock, limits, registry, signer } = this.options;
    const verdict = signer.judge('download', (request.url ?? '').split('?', 1)[0] ?? '', clock.now());
    if (verdict.kind === 'expired') return this.#refuse(response, 410, 'gone', 'This address has expired.');
    const found =
      verdict.kind === 'valid' &&
      (await withTimeout(registry.downloads.find(verdict.id), limits.lookUpTimeoutMs, clock));
    if (!found) return this.#refuse(response, 404, 'unknown', 'There is nothing at this address.');
    if (found.image.withdrawnAt !== undefined) return this.#refuse(response, 410, 'gone', 'This image was withdrawn.');
    const part = partOf(request, found.image);
    if (part === undefined) {
      response.setHeader('Content-Range', `bytes */${found.image.sizeBytes}`);
      return this.#refuse(response, 416, 'range_refused', 'The image does not have these bytes.');
    }
    if (request.method === 'HEAD') return void response.writeHead(part.status, headersOf(found.image, part)).end();
    if (this.#running >= limits.downloadsMax)
      return this.#refuse(response, 503, 'full', 'Too many downloads at once. Try again.');
    this.#running += 1;
    try {
      await this.#serve(response, found, part);
    } finally {
      this.#running -= 1;
    }
  }

  async #serve(
    response: ServerResponse,
    { download, image }: { readonly download: DownloadRow; readonly image: FirmwareImageRow },
    part: Part,
  ): Promise<void> {
    const { clock, count, limits, logger } = this.options;
    const read = await this.#integrity.read(image, { start: part.start, end: part.end });
    if (read.kind === 'missing') throw new Error(`The bytes of the firmware image ${image.id} are gone.`);
    if (read.kind === 'corrupt')
      return this.#refuse(
        response,
        500,
        'corrupt',
        'The stored file differs from the uploaded image and is not served.',
      );
    let hasReadFailed = false;
    // After a disconnection, the end of the body is an error, too.
    read.blob.body.once('error', () => (hasReadFailed = !response.destroyed));
    await this.#begin(download.id);
    const report = (progress: DownloadProgress): Promise<void> => this.#record(progress);
    const meter = new DownloadMeter({ downloadId: download.id, everyMs: limits.progressEveryMs, clock, report });
    response.setTimeout(limits.stallTimeoutMs, () => response.destroy());
    response.writeHead(part.status, headersOf(image, part));
    try {
      await pipeline(read.blob.body, meter, response);
    } catch (error) {
      if (hasReadFailed) {
        void meter.report(false, { serverId: NO_PROCESS });
        throw error;
      }
      void meter.report(false, { isBrokenOff: !this.#isStopping });
      count('broken_off');
      logger.debug({ err: error, deviceId: download.deviceId, imageId: image.id }, 'a download broke off');
      return;
    }
    count('served');
    const isLast = part.end === image.sizeBytes - 1;
    const reported = meter.report(isLast);
    if (isLast) void reported.then(() => this.#completed(download, image));
  }

  /** Recorded before the first byte: if the process ends later, it has cut the download. */
  async #begin(id: string): Promise<void> {
    const { clock, limits, registry, serverId } = this.options;
    const begun = registry.downloads.progress({
      id,
      requests: 1,
      bytes: 0,
      isComplete: false,
      serverId,
      at: clock.now(),
    });
    await withTimeout(begun, limits.lookUpTimeoutMs, clock).catch((error: unknown) => {
      this.options.logger.warn({ err: error, downloadId: id }, 'could not record the start of a download');
    });
  }

  async #record(progress: DownloadProgress): Promise<void> {
    await this.options.registry.downloads.progress(progress).catch((error: unknown) => {
      this.options.logger.warn({ err: error, downloadId: progress.id }, 'could not record the progress of a download');
    });
  }

  /**
   * Reports a device that downloads the same image repeatedly without keeping it. Whether to offer
   * it again is decided elsewhere. Never rejects.
   */
  async #completed({ deviceId, id, jobId }: DownloadRow, image: FirmwareImageRow): Promise<void> {
    const { clock, events, registry } = this.options;
    const data = { downloadId: id, imageId: image.id, jobId, version: image.version };
    events.write('firmware.downloaded', deviceId, { ...data, sizeBytes: image.sizeBytes });
    const downloads = await registry.downloads
      .countWasted(deviceId, image.id, clock.now() - downloadLoop.windowMs)
      .catch(() => 0);
    if (downloads === downloadLoop.downloads) events.write('firmware.loop', deviceId, { ...data, downloads });
  }

  #corrupt({ id: imageId, sha256, storageKey, version }: FirmwareImageRow, found: FoundBytes): void {
    const { events, logger } = this.options;
    const data = { imageId, version, sha256, found: found.sha256, foundBytes: found.sizeBytes };
    logger.error({ ...data, storageKey }, 'a stored firmware file differs from the uploaded image and is not served');
    events.write('firmware.corrupt', undefined, data);
  }

  #refuse(response: ServerResponse, status: number, outcome: DownloadOutcome, message: string): void {
    this.options.count(outcome);
    if (response.headersSent) return void response.destroy();
    const text = JSON.stringify({ code: refusalCodes[outcome] ?? 'NOT_FOUND', message });
    response.writeHead(status, {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(text),
      'Cache-Control': 'no-store',
      ...(status === 503 && { 'Retry-After': RETRY_AFTER_SECONDS }),
    });
    response.end(text);
  }
}

const refusalCodes: Readonly<Partial<Record<DownloadOutcome, string>>> = {
  gone: 'GONE',
  full: 'OVERLOADED',
  unavailable: 'UNAVAILABLE',
  corrupt: 'CORRUPT',
  range_refused: 'RANGE_NOT_SATISFIABLE',
};

/**
 * Returns the requested part; undefined if the image does not have these bytes. Several ranges, or
 * ranges of another image, get the whole image.
 */
function partOf({ headers }: IncomingMessage, image: FirmwareImageRow): Part | undefined {
  const whole: Part = { status: 200, start: 0, end: image.sizeBytes - 1 };
  const condition = headers['if-range'];
  if (headers.range === undefined || (condition !== undefined && condition !== tagOf(image))) return whole;
  // A suffix longer than the file means the whole file, which the parser rejects. [RFC 9110
  // §14.1.2]
  const [, last] = /^bytes=-(\d+)$/.exec(headers.range) ?? [];
  if (Number(last) > image.sizeBytes) return { ...whole, status: 206 };
  const ranges = parseRange(image.sizeBytes, headers.range, { combine: true });
  if (ranges === -1) return undefined;
  const [only] = ranges === -2 || ranges.type !== 'bytes' || ranges.length > 1 ? [] : ranges;
  return only ? { status: 206, start: only.start, end: only.end } : whole;
}

function headersOf(image: FirmwareImageRow, { status, start, end }: Part): Readonly<Record<string, string | number>> {
  return {
    'Content-Type': 'application/octet-stream',
    'Content-Length': end - start + 1,
    'Accept-Ranges': 'bytes',
    'Cache-Control': 'no-store',
    ETag: tagOf(image),
    ...(status === 206 && { 'Content-Range': `bytes ${start}-${end}/${image.sizeBytes}` }),
  };
}

function tagOf({ sha256 }: FirmwareImageRow): string {
  return `"${sha256}"`;
}
