/**
 * A PostgreSQL database for a story, on the server that vitest starts for the run
 * (FLOTILLA_TEST_POSTGRES).
 */
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';

export interface TestDatabase {
  readonly url: string;
  /** Drops it, also while clients are connected. */
  close(): Promise<void>;
}

/**
 * An empty database, which the hubs bring to their schema themselves, or a copy of one that has it.
 */
export async function openTestDatabase({
  migrated = false,
}: { readonly migrated?: boolean } = {}): Promise<TestDatabase> {
  const serverUrl = process.env['FLOTILLA_TEST_POSTGRES'];
  if (serverUrl === undefined) throw new Error('FLOTILLA_TEST_POSTGRES names no server: run stories with vitest.');
  const name = `story_${randomUUID().replaceAll('-', '')}`;
  await execute(serverUrl, `CREATE DATABASE ${name}${migrated ? ' TEMPLATE migrated' : ''}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return { url: url.href, close: () => execute(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

async function execute(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
