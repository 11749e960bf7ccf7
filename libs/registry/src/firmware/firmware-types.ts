/** Firmware images, for which boards they were published, and what devices fetched of them. The bytes are in the blob store. */
import type { DeviceId, HubProcessId } from '@flotilla/mcp';
import type { AuditSource } from '../audit/audit-entry.js';
import type { FirmwareSigningKeyRow } from './signing-key-store.js';
import type { Page, PageRequest } from '../page.js';
import type { WriterStatus } from '../registry.js';

/** ASSETS are fonts, wake words and pictures. */
export type FirmwareKind = 'FIRMWARE' | 'ASSETS';

/** An image as it describes itself. */
export interface NewFirmwareImage {
  readonly id: string;
  readonly kind: FirmwareKind;
  readonly fileName: string;
  readonly project: string;
  readonly version: string;
  /** As devices name theirs: `esp32s3`; `any` for assets. */
  readonly chip: string;
  readonly idfVersion: string | undefined;
  readonly sizeBytes: number;
  /** Lower-case hex, of the whole file. */
  readonly sha256: string;
  readonly elfSha256: string | undefined;
  readonly storageKey: string;
  readonly uploadedAt: number;
  readonly uploadedBy: string;
  /** What came with the upload and was verified. */
  readonly signature?: ImageSignature | undefined;
}

/** A detached Ed25519 signature over the file's bytes. */
export interface ImageSignature {
  /** In base64. */
  readonly value: string;
  /** Of the key that verified it. */
  readonly fingerprint: string;
}

export interface FirmwareImageRow extends Omit<NewFirmwareImage, 'signature'> {
  /** The key that verified its signature; undefined where it has none, or the key was removed. */
  readonly signedBy?: FirmwareSigningKeyRow | undefined;
  /** The owners who published it since it was last withdrawn. */
  readonly publisherIds?: readonly string[];
  readonly publishedAt: number | undefined;
  readonly withdrawnAt: number | undefined;
  readonly notes: string | undefined;
  /** Boards that it is published for, in order; none once it is withdrawn. */
  readonly models: readonly string[];
}

export interface Publication {
  readonly id: string;
  /** Added to those that it is published for already. */
  readonly models: readonly string[];
  /** Undefined leaves what was noted before. */
  readonly notes: string | undefined;
  readonly at: number;
  /** The person who publishes it (`principalRef`). */
  readonly publisherId?: string;
  /** Refuses an image without a valid signature. */
  readonly mustBeSigned?: boolean;
}

export type PublishAnswer =
  | { readonly kind: 'published'; readonly image: FirmwareImageRow }
  | { readonly kind: 'NOT_FOUND' }
  | { readonly kind: 'unsigned' }
  /** Another image of this version is published for this board. */
  | { readonly kind: 'conflict'; readonly model: string; readonly holder: FirmwareImageRow }
  /** All devices of this board that said so have another chip. */
  | { readonly kind: 'foreign_chip'; readonly model: string; readonly chip: string };

export type RemovalAnswer =
  | { readonly kind: 'removed'; readonly image: FirmwareImageRow }
  | { readonly kind: 'NOT_FOUND' }
  | { readonly kind: 'IN_USE' };

export interface AddedImage {
  readonly image: FirmwareImageRow;
  readonly isNew: boolean;
  /** The earlier upload got a signature by another key, or its first. */
  readonly isSignedNow: boolean;
}

/** `by` puts a change on the audit trail. */
export interface FirmwareImageStore {
  /** Adds the image, or finds the earlier upload of the same kind, version and bytes, which then gets the new signature. */
  add(image: NewFirmwareImage, by?: AuditSource): Promise<AddedImage>;
  find(id: string): Promise<FirmwareImageRow | undefined>;
  /** In the order of the input. */
  findMany(ids: readonly string[]): Promise<readonly (FirmwareImageRow | undefined)[]>;
  /** Which of these are there. */
  known(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** Latest first. */
  page(page: PageRequest): Promise<Page<FirmwareImageRow>>;
  /** For all of the boards or for none. A withdrawn image may be published anew. */
  publish(publication: Publication, by?: AuditSource): Promise<PublishAnswer>;
  /** Its boards may then have another image of that version. One that was withdrawn before stays withdrawn since then. */
  withdraw(id: string, at: number, by?: AuditSource): Promise<FirmwareImageRow | undefined>;
  /** Removes an image that is not published and that no job and no download ever named. */
  remove(id: string, at: number, by?: AuditSource): Promise<RemovalAnswer>;
  /** The image that is published for this board under this version. */
  released(kind: FirmwareKind, model: string, version: string): Promise<FirmwareImageRow | undefined>;
}

/** An image that one device may fetch, for one job. */
export interface NewDownload {
  readonly id: string;
  readonly imageId: string;
  readonly deviceId: DeviceId;
  readonly jobId: string;
  readonly expiresAt: number;
}

export interface DownloadRow extends NewDownload {
  /** Requests that were answered with bytes. */
  readonly requests: number;
  readonly bytesServed: number;
  readonly startedAt: number | undefined;
  readonly lastByteAt: number | undefined;
  /** When the last byte of the image had been handed to the network. */
  readonly completedAt: number | undefined;
}

/** What one download has done since the last report. */
export interface DownloadProgress {
  readonly id: string;
  readonly requests: number;
  readonly bytes: number;
  readonly isComplete: boolean;
  /** This process serves it from now on. While a download is neither complete nor broken off, the end of its process has cut it. */
  readonly serverId?: HubProcessId;
  /** The device, or its network, ended it before its last byte. */
  readonly isBrokenOff?: boolean;
  readonly at: number;
}

/** A device in a roll-out. */
export interface DownloadTarget {
  readonly jobId: string;
  readonly deviceId: string;
}

export interface DownloadStore {
  add(download: NewDownload): Promise<void>;
  /** The download with its image. */
  find(id: string): Promise<{ readonly download: DownloadRow; readonly image: FirmwareImageRow } | undefined>;
  /** Of distinct targets, the latest of each first. */
  ofTargets(targets: readonly DownloadTarget[]): Promise<readonly DownloadRow[]>;
  /** Resolves when it is written; in batches. */
  progress(progress: DownloadProgress): Promise<void>;
  /** How often the device has fetched the whole image in downloads that were in use since then, and did not keep it; bytes that it fetched again count again. */
  countInVain(deviceId: string, imageId: string, since: number): Promise<number>;
  /** Downloads that run, or may begin at any moment: the offered ones that are not over. `stalledBefore`: bytes last went out before that is not running. */
  countOpen(now: number, stalledBefore: number): Promise<number>;
  writers(): readonly WriterStatus[];
  close(): Promise<void>;
}
