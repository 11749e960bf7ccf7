/** Reads the file of factory keys: one `serial,key` per line, the key as 64 hex digits. */
import { readFile } from 'node:fs/promises';
import type { EnrolmentStore, FactoryKey } from '@flotilla/registry';

/** Keys per statement. */
const KEYS_PER_IMPORT = 5_000;

const line = /^([\x21-\x2b\x2d-\x7e]{1,64}),([0-9a-fA-F]{64})$/;

class FactoryKeysError extends Error {
  readonly code = 'FACTORY_KEYS_INVALID';

  constructor(file: string, problem: string, options?: ErrorOptions) {
    super(`FLOTILLA_FACTORY_KEYS (${file}) ${problem}`, options);
    this.name = 'FactoryKeysError';
  }
}

/** Imports the file. Keys that are no longer in it stay valid. Throws FactoryKeysError. */
export async function importFactoryKeys(
  file: string,
  enrolments: Pick<EnrolmentStore, 'importFactoryKeys'>,
  logger: { info(details: object, message: string): void },
): Promise<void> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new FactoryKeysError(file, 'cannot be read', { cause: error });
  });
  const keys = parseFactoryKeys(file, text);
  for (let at = 0; at < keys.length; at += KEYS_PER_IMPORT)
    await enrolments.importFactoryKeys(keys.slice(at, at + KEYS_PER_IMPORT));
  logger.info({ file, keys: keys.length }, 'factory keys imported');
}

/**
 * Skips empty lines and the header `serial,key`. An error has the number of the line, not its
 * content.
 */
export function parseFactoryKeys(file: string, text: string): readonly FactoryKey[] {
  return text.split(/\r?\n/).flatMap((row, index) => {
    // Also without a byte order mark, with which spreadsheets begin a file.
    const entry = row.trim();
    if (entry === '' || (index === 0 && entry === 'serial,key')) return [];
    const [, serial, key] = line.exec(entry) ?? [];
    if (serial === undefined || key === undefined)
      throw new FactoryKeysError(file, `has no serial number and key of 64 hex digits in line ${index + 1}`);
    return [{ serial, key: Buffer.from(key, 'hex') }];
  });
}
