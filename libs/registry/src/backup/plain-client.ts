/** One connection without time limits, for statements that read or write whole tables. */
import type pg from 'pg';
import { CONNECT_TIMEOUT_MS, databaseError } from '../database/database.js';
import { KEEP_ALIVE } from '../database/half-open-connections.js';
import { openClient } from '../database/open-pool.js';

/** Values have one text form on all servers. */
const ONE_FORM = `SET datestyle = 'ISO, YMD'; SET intervalstyle = 'postgres'; SET timezone = 'UTC';
  SET extra_float_digits = 3; SET bytea_output = 'hex'; SET client_encoding = 'UTF8';
  SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0`;

export async function openPlainClient(databaseUrl: string): Promise<pg.Client> {
  const client = openClient(databaseUrl, {
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'flotilla backup',
  });
  // The statement that runs rejects, too. An unhandled error event would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(`${KEEP_ALIVE}; ${ONE_FORM}`);
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw databaseError(error);
  }
}
