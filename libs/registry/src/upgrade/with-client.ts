/** One connection to the server that accepts writes, for as long as some reads take. */
import type pg from 'pg';
import { CONNECT_TIMEOUT_MS, databaseError } from '../database/database.js';
import { openPool } from '../database/open-pool.js';

/** Throws RegistryError DATABASE_UNAVAILABLE or DATABASE_REFUSED. */
export async function withClient<Result>(
  databaseUrl: string,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const pool = openPool(databaseUrl, {
    max: 1,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: 'flotilla check',
  });
  pool.on('error', () => undefined);
  try {
    const client = await pool.connect();
    try {
      return await work(client);
    } finally {
      client.release();
    }
  } catch (error) {
    throw databaseError(error);
  } finally {
    await pool.end();
  }
}
