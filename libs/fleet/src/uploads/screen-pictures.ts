/**
 * Takes snapshots of screens and shows pictures on them. The hub makes the addresses for one call;
 * a caller chooses only the content.
 */
import { randomUUID } from 'node:crypto';
import type { DeviceId } from '@flotilla/mcp';
import type { CallRow, Registry, UploadRow, UploadStore } from '@flotilla/registry';
import type { Actor } from '../actor.js';
import type { CallAnswer } from '../calls/call-request.js';
import type { Fleet } from '../fleet.js';
import { refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';

/** Makes addresses that the hub serves. Undefined if the hub does not know its own address. */
interface ScreenAddresses {
  /** For one upload of this device's. */
  snapshotUrl(deviceId: DeviceId, ticketId: string, expiresAt: number): string | undefined;
  /** For fetching one kept picture. */
  previewUrl(uploadId: string, expiresAt: number): string | undefined;
}

interface ScreenPicturesDeps {
  readonly fleet: Pick<Fleet, 'callTool'>;
  readonly registry: Pick<Registry, 'viewFor'> & { readonly uploads: Pick<UploadStore, 'findByTicket'> };
  readonly addresses: ScreenAddresses;
  readonly clock: { now(): number };
}

interface SnapshotAnswer {
  readonly upload?: UploadRow;
  readonly call?: CallRow;
  readonly refusal?: Refusal;
}

/** Ms for a call with a transfer, and how much longer its address is valid. [xiaozhi §9, 8] */
const CALL_TIMEOUT_MS = 70_000;
const ADDRESS_GRACE_MS = 10_000;

const noAddress = refuse('INVALID', [], 'The hub does not know its own address. Set FLOTILLA_PUBLIC_URL.');

export class ScreenPictures {
  constructor(private readonly deps: ScreenPicturesDeps) {}

  /** Waits for the picture. An upload without a successful call means that the answer was lost. */
  async takeSnapshot(
    request: { readonly deviceId: string; readonly quality: number },
    actor: Actor,
  ): Promise<SnapshotAnswer> {
    const { addresses, registry } = this.deps;
    const device = await registry.viewFor(actor).devices.find(request.deviceId);
    if (device === undefined) return { refusal: noDevice(request.deviceId) };
    const ticketId = randomUUID();
    const url = addresses.snapshotUrl(device.id, ticketId, this.#expiry());
    if (url === undefined) return { refusal: noAddress };
    const { call, refusal } = await this.#call(
      device.id,
      'self.screen.snapshot',
      { url, quality: request.quality },
      actor,
    );
    if (refusal !== undefined) return { ...(call && { call }), refusal };
    const upload = await registry.uploads.findByTicket(ticketId);
    if (upload !== undefined) return { upload, ...(call && { call }) };
    const isDone = call?.outcome === 'SUCCEEDED';
    return {
      ...(call && { call }),
      ...(isDone && { refusal: refuse('NOT_FOUND', [], 'The device says that it sent its screen, but nothing came.') }),
    };
  }

  async showImage(
    request: { readonly deviceId: string; readonly uploadId: string },
    actor: Actor,
  ): Promise<CallAnswer> {
    const { addresses, registry } = this.deps;
    const device = await registry.viewFor(actor).devices.find(request.deviceId);
    if (device === undefined) return { refusal: noDevice(request.deviceId) };
    const upload = await registry.viewFor(actor).uploads.find(request.uploadId);
    if (upload === undefined)
      return { refusal: refuse('NOT_FOUND', ['uploadId'], `There is no upload "${request.uploadId}".`) };
    const url = addresses.previewUrl(upload.id, this.#expiry());
    if (url === undefined) return { refusal: noAddress };
    return this.#call(device.id, 'self.screen.preview_image', { url }, actor);
  }

  async #call(
    deviceId: DeviceId,
    tool: string,
    args: Readonly<Record<string, unknown>> & { readonly url: string },
    actor: Actor,
  ): Promise<CallAnswer> {
    const answer = await this.deps.fleet.callTool(
      { deviceId, tool, arguments: args, timeoutMs: CALL_TIMEOUT_MS },
      actor,
      args.url,
    );
    if (answer.refusal === undefined) return answer;
    // Paths of the inner call mean nothing to a caller who did not write it.
    const path = answer.refusal.path.includes('deviceId') ? ['deviceId'] : [];
    return { ...answer, refusal: { ...answer.refusal, path } };
  }

  #expiry(): number {
    return this.deps.clock.now() + CALL_TIMEOUT_MS + ADDRESS_GRACE_MS;
  }
}

function noDevice(id: string): Refusal {
  return refuse('NOT_FOUND', ['deviceId'], `There is no device "${id}".`);
}
