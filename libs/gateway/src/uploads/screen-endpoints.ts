/**
 * The endpoints to which a device posts its screen and from which it fetches pictures. Requests
 * have no headers, so the signed address is the only proof. [xiaozhi §6.2, §6.3]
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { UploadStore } from '@flotilla/registry';
import type { BlobStore } from '@flotilla/storage';
import type { DeviceGrants } from './device-grants.js';
import type { UploadSlots } from './upload-slots.js';
import { toScreenPicture } from './picture-decoder.js';
import { usedUp } from './picture-intake.js';
import type { PictureIntake } from './picture-intake.js';
import type { JsonAnswer } from '../send-json.js';
import type { UploadLimits } from './upload-limits.js';
import { UploadRefusal } from './upload-refusal.js';

interface ScreenEndpointsOptions {
  readonly grants: DeviceGrants;
  readonly slots: UploadSlots;
  readonly intake: PictureIntake;
  readonly uploads: Pick<UploadStore, 'find' | 'findByTicket'>;
  readonly blobs: BlobStore;
  readonly limits: UploadLimits;
  readonly clock: { now(): number };
}

/** Pictures decoded for screens at once: each takes up to 100 MB for a moment. */
const DECODINGS_MAX = 2;
/** Requests that wait for their turn. Devices give up after 30 s without an answer. [xiaozhi §6] */
const WAITING_MAX = 50;

export class ScreenEndpoints {
  #decodings = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(private readonly options: ScreenEndpointsOptions) {}

  /** `POST /t/snapshot/<token>`, once. Throws UploadRefusal. */
  async takeSnapshot(request: IncomingMessage): Promise<JsonAnswer> {
    const { clock, grants, intake, slots, uploads } = this.options;
    const grant = grants.readSnapshotPath(pathOf(request), clock.now());
    if (grant === undefined) throw unknownAddress();
    const release = slots.take(grant.ticketId);
    try {
      if ((await uploads.findByTicket(grant.ticketId).catch(unavailable)) !== undefined) throw usedUp();
      await intake.take(request, { kind: 'SNAPSHOT', ...grant });
      return { status: 200, body: { success: true } };
    } finally {
      release();
    }
  }

  /** `GET /t/preview/<token>`, with the length that the device needs. Throws UploadRefusal. */
  async sendPreview(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { clock, grants, uploads } = this.options;
    const uploadId = grants.readPreviewPath(pathOf(request), clock.now());
    const upload = uploadId === undefined ? undefined : await uploads.find(uploadId).catch(unavailable);
    if (upload === undefined) throw unknownAddress();
    await this.#inTurn(async () => {
      // The device gave up while it waited.
      if (response.destroyed) return;
      const picture = await this.#screenPicture(upload.storageKey);
      response.writeHead(200, { 'Content-Type': 'image/png', 'Content-Length': picture.length, Connection: 'close' });
      response.end(picture);
    });
  }

  /** Each that has finished passes its place on to the one that waits longest. */
  async #inTurn(act: () => Promise<void>): Promise<void> {
    if (this.#waiting.length >= WAITING_MAX)
      throw new UploadRefusal('UNAVAILABLE', 'Too many pictures are being prepared. Try again.');
    if (this.#decodings < DECODINGS_MAX) this.#decodings += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      await act();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#decodings -= 1;
      else next();
    }
  }

  async #screenPicture(key: string): Promise<Buffer> {
    const blob = await this.options.blobs.read(key).catch(unavailable);
    if (blob === undefined) throw unknownAddress();
    const picture = await buffer(blob.body).catch(unavailable);
    return toScreenPicture(picture, this.options.limits.pixelsMax).catch((error: unknown) => {
      throw new UploadRefusal('UNSUPPORTED_PICTURE', 'The picture cannot be decoded.', { cause: error });
    });
  }
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '';
}

function unknownAddress(): UploadRefusal {
  return new UploadRefusal('NOT_FOUND', 'There is nothing at this address, or it has expired.');
}

function unavailable(error: unknown): never {
  throw new UploadRefusal('UNAVAILABLE', 'The hub cannot look this up now. Try again.', { cause: error });
}
