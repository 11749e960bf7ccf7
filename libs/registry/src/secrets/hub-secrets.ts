/**
 * Secrets that all processes of one hub share through the database. Each is made once, by the first
 * process that asks for it.
 */
import type { Queryable } from '../database/database.js';
import { RegistryError } from '../registry-error.js';
import { newSecret } from './secrets.js';

/** `bus` signs the messages between processes, `oauth` the cookies of connecting agents. */
export type HubSecretName = 'bus' | 'oauth';

const MAKE = {
  text: `INSERT INTO hub_secret (name, secret, created_at) VALUES ($1, $2, now()) ON CONFLICT (name) DO NOTHING`,
};
const READ = { text: `SELECT secret FROM hub_secret WHERE name = $1` };

/**
 * Two processes that ask at once get the same secret: the second insert finds the first one's row.
 */
export async function keepHubSecret(database: Queryable, name: HubSecretName): Promise<string> {
  await database.query(MAKE, [name, newSecret()]);
  const [row] = await database.query<{ secret: string }>(READ, [name]);
  if (row === undefined)
    throw new RegistryError('DATABASE_REFUSED', `The secret "${name}" of the hub was removed while it was read.`);
  return row.secret;
}
