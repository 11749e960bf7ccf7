/**
 * Restores a backup into an empty hub. It reads the whole file first, so that a damaged one changes
 * nothing. The rows are committed last, so that a failed restore can be repeated.
 */
import { Readable } from 'node:stream';
import { loadDatabase, requireKnownVersion, requireRestorable, startEmbeddedPostgres } from '@flotilla/registry';
import type { TablePiece } from '@flotilla/registry';
import { openBlobStore } from '@flotilla/storage';
import type { BlobStore } from '@flotilla/storage';
import { readSecret, writeSecret } from '../secrets/secret-file.js';
import { messageOf } from '../error-message.js';
import type { HubConfig } from '../settings/config.js';
import { auditSecretOf, keyIdsOf } from '../settings/secret-settings.js';
import { BackupError, SECRET_FILES } from './archive-format.js';
import { readArchive, verifyArchive } from './read-archive.js';
import type { VerifiedArchive } from './read-archive.js';

const DATABASE = /^database\/([a-z_0-9]+)\/\d+$/;
const FILES = 'files/';

interface RestoreSummary {
  readonly file: string;
  readonly createdAt: string;
  readonly hubVersion: string;
  readonly rows: Readonly<Record<string, number>>;
  readonly files: number;
  /** Jobs that ran when the backup was made. */
  readonly pausedJobs: number;
}

interface RestoreOptions {
  /** Continue although this hub has other keys than the one of the backup. */
  readonly acceptNewKeys: boolean;
  /** Aborted: nothing is restored, unless the rows are committed. */
  readonly signal?: AbortSignal;
}

/**
 * Throws BackupError, or RegistryError RESTORE_REFUSED or DATA_DIR_IN_USE, before it changes
 * anything, and another error after that.
 */
export async function restoreBackup(
  config: HubConfig,
  file: string,
  { acceptNewKeys, signal }: RestoreOptions,
): Promise<RestoreSummary> {
  const { databaseUrl, dataDir, storage, backupPassphrase } = config;
  const archive = await verifyArchive(file, backupPassphrase, signal);
  await requireNoOtherSecrets(dataDir, archive);
  if (!acceptNewKeys) await requireSameKeys(config, archive);
  const { contents, hubVersion } = archive.header;
  // Before a start of the embedded PostgreSQL, which makes a cluster.
  await requireKnownVersion({ contents, hubVersion });
  const embedded = databaseUrl === undefined ? await startEmbeddedPostgres({ dataDir }) : undefined;
  const closers: (() => Promise<void>)[] = [async () => embedded?.stop()];
  try {
    const url = databaseUrl ?? embedded?.databaseUrl ?? '';
    await requireRestorable(url, { contents, hubVersion });
    const blobs = await openBlobStore({ ...storage, isAlone: false });
    closers.unshift(() => blobs.close());
    const parts = new RestoredParts(file, config, blobs, signal);
    return await restoreAll(url, config, archive, parts).catch((error: unknown) => {
      throw unfinished(error);
    });
  } finally {
    for (const close of closers) await close();
  }
}

async function restoreAll(
  url: string,
  config: HubConfig,
  { header, manifest, secrets }: VerifiedArchive,
  parts: RestoredParts,
): Promise<RestoreSummary> {
  for (const [name, secret] of secrets) await writeSecret(config.dataDir, name, secret);
  const auditSecret = await auditSecretOf(config);
  const { contents, createdAt, hubVersion } = header;
  const { rows } = manifest;
  const source = { contents, hubVersion, rows, createdAt: new Date(createdAt), auditSecret };
  const warn = (message: string) => void process.stderr.write(`${message}\n`);
  const pausedJobs = await loadDatabase(url, { ...source, pieces: parts.pieces() }, warn);
  return { file: parts.file, createdAt, hubVersion, rows, files: parts.files, pausedJobs };
}

/** No refusal: secrets and files may be there by now. */
function unfinished(cause: unknown): Error {
  const reason = messageOf(cause).replace(/[^.!?]$/, '$&.');
  const advice =
    'Rows are restored all or none; secrets and files may be there already. Fix the cause and run it again.';
  return new Error(`The restore did not finish: ${reason} ${advice}`, { cause });
}

/** Stores the files while it yields the rows. */
class RestoredParts {
  files = 0;

  constructor(
    readonly file: string,
    private readonly config: HubConfig,
    private readonly blobs: BlobStore,
    private readonly signal: AbortSignal | undefined,
  ) {}

  async *pieces(): AsyncGenerator<TablePiece> {
    const { parts } = readArchive(this.file, this.config.backupPassphrase, this.signal);
    for await (const { name, bytes, body } of parts) {
      const table = DATABASE.exec(name)?.[1];
      if (table !== undefined) for await (const data of body) yield { table, data };
      if (name.startsWith(FILES)) await this.#store(name.slice(FILES.length), bytes, body);
    }
  }

  async #store(key: string, bytes: number, body: AsyncIterable<Uint8Array>): Promise<void> {
    // The database knows the type, which the hub sends to clients.
    const contentType = 'application/octet-stream';
    await this.blobs.put(key, Readable.from(body, { objectMode: false }), { contentType, maxBytes: bytes });
    this.files += 1;
  }
}

async function requireNoOtherSecrets(dataDir: string, { secrets }: VerifiedArchive): Promise<void> {
  for (const [name, secret] of secrets) {
    if (!SECRET_FILES.some((known) => known === name))
      throw new BackupError(`The backup has an unknown secret ${name}. Restore it with a newer version.`);
    const present = await readSecret(dataDir, name);
    if (present !== undefined && present !== secret)
      throw new BackupError(
        `The data folder ${dataDir} belongs to another hub: its ${name} differs from the one in the backup. ` +
          'Set FLOTILLA_DATA_DIR to an empty folder.',
      );
  }
}

async function requireSameKeys(config: HubConfig, { header, secrets }: VerifiedArchive): Promise<void> {
  const ids = await keyIdsOf(config, (name) => Promise.resolve(secrets.get(name)));
  const { keyIds } = header;
  if (ids.audit === keyIds.audit && ids.arguments === keyIds.arguments) return;
  throw new BackupError(
    'The former hub had other keys than this one will have. Set FLOTILLA_AUDIT_KEY and FLOTILLA_DEVICE_SECRET as ' +
      'they were there, or leave them unset if they were. If they are lost, add --accept-new-keys: then the audit ' +
      'trail cannot be verified before the restore, and stored secret arguments and settings of channels are lost.',
  );
}
