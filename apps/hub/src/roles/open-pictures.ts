/**
 * Files from and for devices, for the roles gateway and api: firmware downloads, uploads of
 * pictures, signed URLs, and the vision model.
 */
import type { PictureFiles } from '@flotilla/api';
import {
  DeviceDownloads,
  DeviceUploads,
  OpenAiVision,
  ScreenPermits,
  UploadRefusal,
  UrlSigner,
  type DeviceAddresses,
} from '@flotilla/gateway';
import type { BlobStore } from '@flotilla/storage';
import type { SharedServices } from './shared-services.js';
import { systemClock } from '../system-clock.js';

export interface OpenPictures {
  readonly uploads: DeviceUploads;
  readonly permits: ScreenPermits;
  readonly downloads: DeviceDownloads;
  readonly signer: UrlSigner;
  /** The URL at which a connected device fetches its image. */
  readonly imageUrl: (downloadId: string, expiresAt: number) => string | undefined;
  /** The origin of these URLs. */
  readonly downloadOrigin: () => string | undefined;
}

/** `secret` is the same in all processes, because one signs a URL and another one checks it. */
export function openPictures(services: SharedServices, addresses: DeviceAddresses, secret: string): OpenPictures {
  const { blobs, bus, closers, config, lease, logger, registry } = services;
  const signer = new UrlSigner(secret);
  const answerer = config.vision && new OpenAiVision(config.vision);
  const uploads = new DeviceUploads({
    registry,
    feed: bus.feed,
    blobs,
    signer,
    addresses,
    answerer,
    clock: systemClock,
    logger,
  });
  closers.add('uploads', () => uploads.close());
  const limits = { downloadsMax: config.downloadsMax };
  const serving = { registry, feed: bus.feed, blobs, signer, serverId: lease.id };
  const downloads = new DeviceDownloads({ ...serving, limits, clock: systemClock, logger });
  closers.add('downloads', () => downloads.stop());
  const imageUrl: OpenPictures['imageUrl'] = (id, expiresAt) =>
    addresses.urlOf(signer.pathOf({ purpose: 'download', id, expiresAt }));
  const downloadOrigin = (): string | undefined => {
    const url = addresses.urlOf('/');
    return url && new URL(url).origin;
  };
  return { uploads, downloads, signer, imageUrl, downloadOrigin, permits: new ScreenPermits(signer, addresses) };
}

/** Uploads of people through the API. */
export function pictureFiles({ uploads }: OpenPictures, blobs: BlobStore): PictureFiles {
  return {
    take: (request) =>
      uploads.takeImage(request).catch((error: unknown) => {
        if (error instanceof UploadRefusal) return { status: error.status, code: error.code, message: error.message };
        throw error;
      }),
    read: (key) => blobs.read(key),
  };
}
