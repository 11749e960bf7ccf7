/**
 * Keeps files of the hub private: sets the umask, and corrects the mode of an older data folder.
 */
import { closeDataDir } from '@flotilla/registry';
import type { Logger } from 'pino';
import type { HubConfig } from './settings/config.js';

/** Only the owner may access new files. */
const OWNER_ONLY = 0o077;

/** Applies to this process and its child processes. Must run before the first file is written. */
export function keepFilesPrivate(): void {
  process.umask(OWNER_ONLY);
}

export async function closeDataFolder({ dataDir, databaseUrl }: HubConfig, logger: Logger): Promise<void> {
  const closed = await closeDataDir(dataDir, { isEmbedded: databaseUrl === undefined });
  if (closed.kind === 'closed') {
    const { from, to } = closed;
    logger.info({ dataDir, from, to }, 'other users had access to the data folder: the hub changed its mode');
  }
  if (closed.kind === 'open') {
    const { mode, reason } = closed;
    logger.warn(
      { dataDir, mode, reason },
      'other users have access to the data folder: set FLOTILLA_DATA_DIR to a folder with mode 0700',
    );
  }
}
