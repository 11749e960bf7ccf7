/**
 * Stores the secrets that a first start creates, in files that only the user of the hub can read.
 * They are never printed, because output ends up in logs.
 */
import type { HubConfig } from '../settings/config.js';
import { writeSecret } from './secret-file.js';

/** The first start cannot store its secrets. */
class FirstSecretError extends Error {
  readonly code = 'FIRST_SECRET_NEEDED';

  constructor(what: string) {
    super(
      `This database has no ${what} yet, and no data folder is set to store a new one. ` +
        'Set FLOTILLA_ADMIN_KEY and FLOTILLA_ADMIN_PASSWORD, or FLOTILLA_DATA_DIR to a folder that stays.',
    );
    this.name = 'FirstSecretError';
  }
}

interface FirstSecret {
  readonly file: 'admin.key' | 'admin.password';
  /** Shown to people, such as `admin key`. */
  readonly what: string;
}

/**
 * Stores a secret before it becomes valid, and prints the file. Rejects with FirstSecretError when
 * the database is elsewhere and no data folder is set.
 */
export function keeperOf(
  config: Pick<HubConfig, 'databaseUrl' | 'dataDir' | 'isDataDirGiven'>,
  { file, what }: FirstSecret,
) {
  return async (secret: string): Promise<void> => {
    if (config.databaseUrl !== undefined && !config.isDataDirGiven) throw new FirstSecretError(what);
    const kept = await writeSecret(config.dataDir, file, secret);
    process.stderr.write(`The first ${what} is in ${kept}, which only this user can read.\n`);
  };
}
