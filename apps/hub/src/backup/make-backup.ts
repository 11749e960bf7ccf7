/**
 * Makes a backup: the secrets of the data folder, the database in one snapshot, then the stored
 * files. A file is stored before its row, so each row of the snapshot has its file.
 */
import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import { openDatabaseDump, openEmbeddedPostgres } from '@flotilla/registry';
import type { DatabaseDump, TableContents } from '@flotilla/registry';
import { openBlobStore } from '@flotilla/storage';
import type { BlobStore } from '@flotilla/storage';
import { readSecret } from '../secrets/secret-file.js';
import type { HubConfig } from '../settings/config.js';
import { keyIdsOf } from '../settings/secret-settings.js';
import { BackupError, FORMAT, SECRET_FILES, TABLE_PART_BYTES } from './archive-format.js';
import type { BackupHeader, Part } from './archive-format.js';
import { writeArchive } from './write-archive.js';

const { version: hubVersion } = createRequire(import.meta.url)('../../package.json') as { readonly version: string };

/** Digits of the number of a part, so that names sort. */
const NUMBER_DIGITS = 6;

interface BackupSummary {
  readonly file: string;
  readonly bytes: number;
  readonly encrypted: boolean;
  readonly createdAt: string;
  readonly hubVersion: string;
  /** The number of rows of each table. */
  readonly rows: Readonly<Record<string, number>>;
  readonly files: number;
}

export async function makeBackup(config: HubConfig, file: string, signal?: AbortSignal): Promise<BackupSummary> {
  const { databaseUrl, dataDir, storage, backupPassphrase: passphrase } = config;
  const embedded = databaseUrl === undefined ? await openEmbeddedPostgres(dataDir) : undefined;
  const closers: (() => Promise<void>)[] = [async () => embedded?.close()];
  try {
    // Before the snapshot: what was accepted before this time is in the backup.
    const createdAt = new Date().toISOString();
    const warn = (message: string) => void process.stderr.write(`${message}\n`);
    const dump = await openDatabaseDump(databaseUrl ?? embedded?.databaseUrl ?? '', warn);
    closers.unshift(() => dump.close());
    const header = await headerOf(config, dump, createdAt);
    // The nightly service may write only to the folders of the data and the backups.
    const blobs = await openBlobStore({ ...storage, isAlone: false, isReadOnly: true });
    closers.unshift(() => blobs.close());
    const made = new BackupParts(config, dump, blobs);
    const rows = () => made.rows;
    const bytes = await writeArchive(file, { header, parts: made.parts(), rows, passphrase, signal });
    const isEncrypted = passphrase !== undefined;
    return { file, bytes, encrypted: isEncrypted, createdAt, hubVersion, rows: made.rows, files: made.files };
  } finally {
    for (const close of closers) await close();
  }
}

async function headerOf(config: HubConfig, { contents }: DatabaseDump, createdAt: string): Promise<BackupHeader> {
  const keyIds = await keyIdsOf(config, (name) => readSecret(config.dataDir, name));
  if (keyIds.audit === undefined)
    throw new BackupError(
      `There is no audit.key in ${config.dataDir}. Set FLOTILLA_DATA_DIR or FLOTILLA_AUDIT_KEY as for the hub.`,
    );
  const { migrations, partitions, tables } = contents;
  return {
    format: FORMAT,
    hubVersion,
    createdAt,
    keyIds,
    contents: {
      migrations: [...migrations],
      partitions: [...partitions],
      tables: tables.map(({ name, columns }) => ({ name, columns: [...columns] })),
    },
  };
}

class BackupParts {
  readonly rows: Record<string, number> = {};
  files = 0;

  constructor(
    private readonly config: HubConfig,
    private readonly dump: DatabaseDump,
    private readonly blobs: BlobStore,
  ) {}

  async *parts(): AsyncGenerator<Part> {
    yield* this.#secrets();
    for (const table of this.dump.contents.tables) yield* this.#table(table);
    yield* this.#files();
  }

  async *#secrets(): AsyncGenerator<Part> {
    for (const name of SECRET_FILES) {
      const secret = await readSecret(this.config.dataDir, name);
      if (secret !== undefined) yield partOf(`secrets/${name}`, [Buffer.from(secret)]);
    }
  }

  async *#table(table: TableContents): AsyncGenerator<Part> {
    const rows = this.dump.rowsOf(table);
    let number = 0;
    let chunks: Buffer[] = [];
    const next = () => partOf(`database/${table.name}/${String(number++).padStart(NUMBER_DIGITS, '0')}`, chunks);
    let bytes = 0;
    for await (const chunk of rows as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes < TABLE_PART_BYTES) continue;
      yield next();
      [chunks, bytes] = [[], 0];
    }
    if (bytes > 0) yield next();
    this.rows[table.name] = rows.rowCount;
  }

  /** A file that is removed meanwhile is left out. Newer ones than the snapshot do no harm. */
  async *#files(): AsyncGenerator<Part> {
    for await (const { key } of this.blobs.list('')) {
      const blob = await this.blobs.read(key);
      if (blob === undefined) continue;
      yield { name: `files/${key}`, bytes: blob.sizeBytes, body: blob.body as AsyncIterable<Buffer> };
      this.files += 1;
    }
  }
}

function partOf(name: string, chunks: readonly Buffer[]): Part {
  return { name, bytes: chunks.reduce((sum, { length }) => sum + length, 0), body: Readable.from(chunks) };
}
