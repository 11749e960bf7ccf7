/** Rows of firmware images and downloads. The bytes are in the blob store. */
import type { DeviceId } from '@flotilla/mcp';
import type { FirmwareSigningKeyRow } from './signing-key-store.js';

/** ASSETS are fonts, wake words and pictures. */
export type FirmwareKind = 'FIRMWARE' | 'ASSETS';

/** An uploaded image with the properties that its header states. */
export interface NewFirmwareImage {
  readonly id: string;
  readonly kind: FirmwareKind;
  readonly fileName: string;
  readonly project: string;
  readonly version: string;
  /** In the notation of devices, such as `esp32s3`; `any` for assets. */
  readonly chip: string;
  readonly idfVersion: string | undefined;
  readonly sizeBytes: number;
  /** Lower-case hex; hash of the whole file. */
  readonly sha256: string;
  readonly elfSha256: string | undefined;
  /** Anti-rollback counter; undefined for assets and for images of older versions of the hub. */
  readonly secureVersion?: number | undefined;
  /** The chip revisions that boot it, in hundreds: 102 is v1.2; undefined: any. */
  readonly minChipRevision?: number | undefined;
  readonly maxChipRevision?: number | undefined;
  /** `qio`, `qout`, `dio` or `dout`. */
  readonly flashMode?: string | undefined;
  /**
   * SHA-256 of the public keys of its secure boot signatures, lower-case hex. Undefined: unknown.
   */
  readonly secureBootKeys?: readonly string[] | undefined;
  readonly storageKey: string;
  readonly uploadedAt: number;
  readonly uploadedBy: string;
  /** The verified signature of the upload. */
  readonly signature?: ImageSignature | undefined;
}

/** A detached Ed25519 signature over the file's bytes. */
export interface ImageSignature {
  /** Base64. */
  readonly value: string;
  /** Fingerprint of the key that verified it. */
  readonly fingerprint: string;
}

export interface FirmwareImageRow extends Omit<NewFirmwareImage, 'signature'> {
  /**
   * The key that verified the signature; undefined without a signature, or if the key was removed.
   */
  readonly signedBy?: FirmwareSigningKeyRow | undefined;
  /** The people who published it since its last withdrawal. */
  readonly publisherIds?: readonly string[];
  readonly publishedAt: number | undefined;
  readonly withdrawnAt: number | undefined;
  readonly notes: string | undefined;
  /** Boards that the image is published for, in order; empty once it is withdrawn. */
  readonly models: readonly string[];
}

/** The permission of one device to fetch one image for one job. */
export interface NewDownload {
  readonly id: string;
  readonly imageId: string;
  readonly deviceId: DeviceId;
  readonly jobId: string;
  readonly expiresAt: number;
}

export interface DownloadRow extends NewDownload {
  /** Number of requests answered with bytes. */
  readonly requests: number;
  readonly bytesServed: number;
  readonly startedAt: number | undefined;
  readonly lastByteAt: number | undefined;
  /** When the last byte of the image was handed to the network. */
  readonly completedAt: number | undefined;
}

/** Columns of `firmware_image i` as `ImageRecord` has them. */
export const IMAGE_COLUMNS = `i.id, i.kind, i.file_name, i.project, i.version, i.chip, i.idf_version, i.size_bytes,
  i.sha256, i.elf_sha256, i.secure_version, i.min_chip_revision, i.max_chip_revision, i.flash_mode,
  i.secure_boot_keys, i.storage_key, i.uploaded_at, i.uploaded_by, i.published_at,
  i.withdrawn_at, i.notes, i.publisher_ids,
  (SELECT json_build_object('id', k.id, 'name', k.name, 'publicKey', k.public_key, 'fingerprint', k.fingerprint,
     'createdAt', (extract(epoch FROM k.created_at) * 1000)::float8)
   FROM firmware_signing_key k WHERE k.fingerprint = i.signed_by) AS signed_by,
  ARRAY(SELECT r.model FROM firmware_release r WHERE r.image_id = i.id ORDER BY r.model) AS models`;

export interface ImageRecord {
  readonly id: string;
  readonly kind: FirmwareKind;
  readonly file_name: string;
  readonly project: string;
  readonly version: string;
  readonly chip: string;
  readonly idf_version: string | null;
  readonly size_bytes: number;
  readonly sha256: string;
  readonly elf_sha256: string | null;
  readonly secure_version: number | null;
  readonly min_chip_revision: number | null;
  readonly max_chip_revision: number | null;
  readonly flash_mode: string | null;
  readonly secure_boot_keys: readonly string[] | null;
  readonly storage_key: string;
  readonly uploaded_at: Date;
  readonly uploaded_by: string;
  readonly published_at: Date | null;
  readonly withdrawn_at: Date | null;
  readonly notes: string | null;
  readonly publisher_ids: readonly string[] | null;
  readonly signed_by: FirmwareSigningKeyRow | null;
  readonly models: readonly string[];
}

export function toImageRow(record: ImageRecord): FirmwareImageRow {
  return {
    id: record.id,
    kind: record.kind,
    fileName: record.file_name,
    project: record.project,
    version: record.version,
    chip: record.chip,
    idfVersion: record.idf_version ?? undefined,
    sizeBytes: record.size_bytes,
    sha256: record.sha256,
    elfSha256: record.elf_sha256 ?? undefined,
    secureVersion: record.secure_version ?? undefined,
    minChipRevision: record.min_chip_revision ?? undefined,
    maxChipRevision: record.max_chip_revision ?? undefined,
    flashMode: record.flash_mode ?? undefined,
    secureBootKeys: record.secure_boot_keys ?? undefined,
    storageKey: record.storage_key,
    uploadedAt: record.uploaded_at.getTime(),
    uploadedBy: record.uploaded_by,
    publishedAt: record.published_at?.getTime(),
    withdrawnAt: record.withdrawn_at?.getTime(),
    notes: record.notes ?? undefined,
    publisherIds: record.publisher_ids ?? [],
    signedBy: record.signed_by ?? undefined,
    models: record.models,
  };
}

/** Columns of `download d` as `DownloadRecord` has them. */
export const DOWNLOAD_COLUMNS = `d.id, d.image_id, d.device_id, d.job_id, d.expires_at, d.requests,
  d.bytes_served::float8 AS bytes_served, d.started_at, d.last_byte_at, d.completed_at`;

export interface DownloadRecord {
  readonly id: string;
  readonly image_id: string;
  readonly device_id: string;
  readonly job_id: string;
  readonly expires_at: Date;
  readonly requests: number;
  readonly bytes_served: number;
  readonly started_at: Date | null;
  readonly last_byte_at: Date | null;
  readonly completed_at: Date | null;
}

export function toDownloadRow(record: DownloadRecord): DownloadRow {
  return {
    id: record.id,
    imageId: record.image_id,
    deviceId: record.device_id as DeviceId,
    jobId: record.job_id,
    expiresAt: record.expires_at.getTime(),
    requests: record.requests,
    bytesServed: record.bytes_served,
    startedAt: record.started_at?.getTime(),
    lastByteAt: record.last_byte_at?.getTime(),
    completedAt: record.completed_at?.getTime(),
  };
}
