/**
 * The embedded server of a data folder for a tool that only looks: the one that a hub runs, or else
 * one that is started for as long as it takes.
 */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { RegistryError } from '../registry-error.js';
import { findEmbeddedPostgres, startEmbeddedPostgres } from './start-embedded-postgres.js';

interface OpenedPostgres {
  readonly databaseUrl: string;
  /** Stops the server if it was started for this. */
  close(): Promise<void>;
}

/** Makes nothing: throws RegistryError EMBEDDED_SERVER_FAILED where no hub has kept its data. */
export async function openEmbeddedPostgres(dataDir: string): Promise<OpenedPostgres> {
  const hasData = await stat(path.join(dataDir, 'postgres.password')).then(
    () => true,
    () => false,
  );
  if (!hasData) {
    throw new RegistryError(
      'EMBEDDED_SERVER_FAILED',
      `There is no database of a hub in ${path.resolve(dataDir)}. ` +
        'Set FLOTILLA_DATA_DIR to the data folder, or set DATABASE_URL.',
    );
  }
  try {
    const started = await startEmbeddedPostgres({ dataDir });
    return { databaseUrl: started.databaseUrl, close: () => started.stop() };
  } catch (error) {
    const running =
      error instanceof RegistryError && error.code === 'DATA_DIR_IN_USE'
        ? await findEmbeddedPostgres({ dataDir })
        : undefined;
    if (running === undefined) throw error;
    return { databaseUrl: running, close: () => Promise.resolve() };
  }
}
