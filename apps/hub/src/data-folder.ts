/** Other users stay out of what the hub writes: its files by the umask, the folder of an older hub by a change of its mode that is logged. */
import { closeDataDir } from '@flotilla/registry';
import type { Logger } from 'pino';
import type { HubConfig } from './settings/config.js';

/** Files for the owner alone. */
const OWNER_ONLY = 0o077;

/** For this process and those that it starts; before it makes its first file. */
export function keepFilesPrivate(): void {
  process.umask(OWNER_ONLY);
}

export async function closeDataFolder({ dataDir, databaseUrl }: HubConfig, logger: Logger): Promise<void> {
  const closed = await closeDataDir(dataDir, { isEmbedded: databaseUrl === undefined });
  if (closed.kind === 'closed') {
    const { from, to } = closed;
    logger.info({ dataDir, from, to }, 'other users could enter the data folder: its mode was changed');
  }
  if (closed.kind === 'open') {
    const { mode, reason } = closed;
    logger.warn(
      { dataDir, mode, reason },
      'other users can enter the data folder: give the hub a folder of its own, with mode 0700',
    );
  }
}
