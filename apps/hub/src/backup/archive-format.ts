/**
 * The format of a backup: a tar archive, compressed with gzip, and encrypted with age if there is a
 * passphrase. `backup.json` is its first part and `manifest.json` its last.
 * [docs/backup.md, "The file"]
 */
import { z } from 'zod';

/** Raised when an older hub could no longer read the archive. */
export const FORMAT = 1;

export const HEADER_PART = 'backup.json';
export const MANIFEST_PART = 'manifest.json';

/** Bytes of one part of a table, which are in memory at once. */
export const TABLE_PART_BYTES = 4 * 1024 * 1024;
/** Bytes of `backup.json` and `manifest.json`, with about 180 for each of a million files. */
export const JSON_BYTES_MAX = 256 * 1024 * 1024;

/** Secrets of the data folder that a hub needs again. The password of its cluster is not one. */
export const SECRET_FILES = ['audit.key', 'device.secret', 'admin.key', 'admin.password'] as const;

const contents = z.object({
  migrations: z.array(z.object({ name: z.string(), checksum: z.string() })),
  partitions: z.array(z.string()),
  tables: z.array(z.object({ name: z.string(), columns: z.array(z.string()) })),
});

export const headerSchema = z.object({
  format: z.literal(FORMAT),
  hubVersion: z.string(),
  createdAt: z.iso.datetime(),
  keyIds: z.object({ audit: z.string().optional(), arguments: z.string().optional() }),
  contents,
});

export const manifestSchema = z.object({
  parts: z.array(z.object({ name: z.string(), bytes: z.number(), sha256: z.string() })),
  /** The number of rows of each table. */
  rows: z.record(z.string(), z.number()),
});

export type BackupHeader = z.infer<typeof headerSchema>;
export type BackupManifest = z.infer<typeof manifestSchema>;
export type PartDigest = BackupManifest['parts'][number];

/** A part of the archive: `secrets/…`, `database/<table>/<number>` or `files/<key>`. */
export interface Part {
  readonly name: string;
  readonly bytes: number;
  readonly body: AsyncIterable<Uint8Array>;
}

/** The backup cannot be made or used. Nothing was changed. */
export class BackupError extends Error {
  readonly code = 'BACKUP_REFUSED';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BackupError';
  }
}
