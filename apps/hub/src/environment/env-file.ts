/** Reads the settings in `.env` of the working folder. Variables that are set already stay. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ConfigError } from './config-error.js';

/** Throws a ConfigError for a file that cannot be read. */
export function loadEnvFile(file = '.env'): void {
  if (!existsSync(file)) return;
  try {
    // For a file without the right to read it, Node's own function says that there is no such file.
    readFileSync(file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError([
      `${path.resolve(file)} cannot be read: ${reason}. Let the user who runs this command read it, or remove it.`,
    ]);
  }
  process.loadEnvFile(file);
}
