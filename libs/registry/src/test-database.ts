/** A fresh, migrated database for a spec, on the server of the test run. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { RegistryError } from './registry-error.js';
import { execute, TEMPLATE_DATABASE, withDatabase } from './test-server.js';

export interface TestDatabase {
  readonly databaseUrl: string;
  /** Drops the database. Close what uses it first. */
  close(): Promise<void>;
}

/** Opens a database that has all migrations and nothing else. */
export async function openTestDatabase(): Promise<TestDatabase> {
  const serverUrl = process.env['FLOTILLA_TEST_POSTGRES'];
  if (serverUrl === undefined)
    throw new RegistryError('DATABASE_UNAVAILABLE', 'FLOTILLA_TEST_POSTGRES names no server: run specs with vitest.');
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await execute(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${TEMPLATE_DATABASE}`);
  let closed: Promise<void> | undefined;
  return {
    databaseUrl: withDatabase(serverUrl, name),
    close: () => (closed ??= execute(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)),
  };
}

/** Counts the statements that this process sends to PostgreSQL, whoever sends them, until `stop`, which tells the number. One at a time. */
export function watchStatements(): { stop(): number } {
  const { prototype } = pg.Client;
  const sent = Reflect.get(prototype, 'query') as (...args: unknown[]) => unknown;
  let count = 0;
  Reflect.set(prototype, 'query', function (this: pg.Client, ...args: unknown[]): unknown {
    count++;
    return Reflect.apply(sent, this, args);
  });
  return {
    stop: () => {
      Reflect.set(prototype, 'query', sent);
      return count;
    },
  };
}
