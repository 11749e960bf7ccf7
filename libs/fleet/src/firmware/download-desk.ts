/**
 * Grants downloads: one device may fetch one image for one job. Asked before an upgrade is sent or offered, so that no device is told to fetch what it would not get: there
 * is a place for it, and it has not been fetching the same image in vain.
 */
import { downloadLoop } from '@flotilla/firmware';
import type { DeviceId } from '@flotilla/mcp';
import type { FirmwareImageRow, Registry } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import { newId } from '../new-id.js';

export interface DownloadDeskDeps {
  readonly registry: Pick<Registry, 'downloads'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly limits?: Partial<DownloadDeskLimits>;
}

export interface DownloadDeskLimits {
  /** Downloads of the whole hub that run or may begin at any moment. */
  readonly downloadsMax: number;
  /** How long a granted address is good, ms: a device that sleeps or has a bad network comes late. */
  readonly grantMs: number;
  /** A download that took no byte for so long does not run any more, ms. */
  readonly stallMs: number;
}

export const defaultDownloadDeskLimits: DownloadDeskLimits = {
  downloadsMax: 50,
  grantMs: 20 * 60_000,
  stallMs: 60_000,
};

export interface DownloadRequest {
  readonly image: Pick<FirmwareImageRow, 'id' | 'withdrawnAt'>;
  readonly deviceId: DeviceId;
  readonly jobId: string;
}

export type DownloadGrant =
  | { readonly kind: 'granted'; readonly downloadId: string; readonly expiresAt: number }
  /** The device has fetched the image so often and runs another version still: it is not to be sent again. */
  | { readonly kind: 'looping'; readonly downloads: number }
  /** The image was withdrawn. */
  | { readonly kind: 'withdrawn' };

export class DownloadDesk {
  readonly #limits: DownloadDeskLimits;

  constructor(private readonly deps: DownloadDeskDeps) {
    this.#limits = { ...defaultDownloadDeskLimits, ...deps.limits };
  }

  /** How many more devices may be told to fetch something now. Rejects where PostgreSQL is away. */
  async freePlaces(): Promise<number> {
    const now = this.deps.clock.now();
    const open = await this.deps.registry.downloads.countOpen(now, now - this.#limits.stallMs);
    return Math.max(0, this.#limits.downloadsMax - open);
  }

  /** Only for a device that does not run the image's version: whoever runs it needs no download. Takes one of the places. */
  async grant({ deviceId, image, jobId }: DownloadRequest): Promise<DownloadGrant> {
    const { clock, registry } = this.deps;
    if (image.withdrawnAt !== undefined) return { kind: 'withdrawn' };
    const now = clock.now();
    const downloads = await registry.downloads.countWhole(deviceId, image.id, now - downloadLoop.windowMs);
    if (downloads >= downloadLoop.downloads) return { kind: 'looping', downloads };
    const grant = { downloadId: newId(now), expiresAt: now + this.#limits.grantMs };
    await registry.downloads.add({ id: grant.downloadId, imageId: image.id, deviceId, jobId, expiresAt: grant.expiresAt });
    return { kind: 'granted', ...grant };
  }
}
