/**
 * The secrets that a first start makes. They go to files that only the hub's user reads, and never to the output, which ends up in the logs of containers and services.
 */
import type { HubConfig } from '../settings/config.js';
import { writeSecret } from './secret-file.js';

/** A first start that has no place for its secrets. */
export class FirstSecretError extends Error {
  readonly code = 'FIRST_SECRET_NEEDED';

  constructor(what: string) {
    super(
      `This database has no ${what} yet, and this hub has no data folder to keep a new one in. ` +
        'Set FLOTILLA_ADMIN_KEY and FLOTILLA_ADMIN_PASSWORD, or FLOTILLA_DATA_DIR to a folder that is kept.',
    );
    this.name = 'FirstSecretError';
  }
}

export interface FirstSecret {
  readonly file: 'admin.key' | 'admin.password';
  /** For people, such as `admin key`. */
  readonly what: string;
}

/** Stores a secret before it counts, and says where. Rejects with FirstSecretError where the data folder is only the default beside a database elsewhere. */
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
