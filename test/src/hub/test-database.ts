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
  await execute(serverUrl, `CREATE DATABASE ${name}${migrated ? ' TEMPLATE migrated STRATEGY FILE_COPY' : ''}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return { url: url.href, close: () => execute(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

/** The tables with a row that has one of these texts in a column. */
export async function tablesWith(url: string, texts: readonly string[]): Promise<readonly string[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const tables = await client.query<{ name: string }>(
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`,
    );
    const found: string[] = [];
    for (const { name } of tables.rows) {
      const { rows } = await client.query(
        `SELECT FROM "${name}" AS t JOIN unnest($1::text[]) AS searched ON strpos(t::text, searched) > 0 LIMIT 1`,
        [texts],
      );
      if (rows.length > 0) found.push(name);
    }
    return found;
  } finally {
    await client.end();
  }
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
