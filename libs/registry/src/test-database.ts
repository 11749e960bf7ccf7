/**
 * A fresh, migrated database for a spec, on an embedded PostgreSQL that this process starts once and stops with the last database. For tests and benches
 * only: data is not flushed to disk.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { migrate } from './database/migrate.js';
import { startEmbeddedPostgres } from './embedded/start-embedded-postgres.js';
import type { EmbeddedPostgres } from './embedded/start-embedded-postgres.js';

export interface TestDatabase {
  readonly databaseUrl: string;
  /** Drops the database; with the last one the server stops. Close what uses it first. */
  close(): Promise<void>;
}

interface SharedServer {
  readonly server: EmbeddedPostgres;
  readonly folder: string;
  readonly dismissWatcher: () => void;
}

const TEMPLATE = 'migrated';

let shared: Promise<SharedServer> | undefined;
let openDatabases = 0;

/** Opens a database that has all migrations and nothing else. */
export async function openTestDatabase(): Promise<TestDatabase> {
  openDatabases += 1;
  shared ??= startShared();
  const { server } = await shared;
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await execute(server.databaseUrl, `CREATE DATABASE ${name} TEMPLATE ${TEMPLATE}`);
  let closed: Promise<void> | undefined;
  return {
    databaseUrl: withDatabase(server.databaseUrl, name),
    close: () => (closed ??= dropDatabase(server.databaseUrl, name)),
  };
}

async function startShared(): Promise<SharedServer> {
  const folder = await mkdtemp(path.join(tmpdir(), 'flotilla-test-'));
  // As root the server runs as another user, who must be able to enter.
  await chmod(folder, 0o755);
  const server = await startEmbeddedPostgres({ dataDir: folder });
  const dismissWatcher = watch(server.pid, folder);
  await execute(server.databaseUrl, 'ALTER SYSTEM SET fsync = off');
  await execute(server.databaseUrl, 'SELECT pg_reload_conf()');
  await execute(server.databaseUrl, `CREATE DATABASE ${TEMPLATE}`);
  await migrate(withDatabase(server.databaseUrl, TEMPLATE));
  return { server, folder, dismissWatcher };
}

const WATCH = 'while kill -0 "$1" 2>/dev/null; do sleep 1; done; kill -QUIT "$2" 2>/dev/null; sleep 1; rm -rf "$3"';

/** A test runner may kill this process: a small one of its own then ends the server and removes its files. */
function watch(serverPid: number, folder: string): () => void {
  const watcher = spawn('/bin/sh', ['-c', WATCH, 'sh', String(process.pid), String(serverPid), folder], {
    detached: true,
    stdio: 'ignore',
  });
  watcher.unref();
  return () => watcher.kill();
}

async function dropDatabase(serverUrl: string, name: string): Promise<void> {
  await execute(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  openDatabases -= 1;
  if (openDatabases > 0 || shared === undefined) return;
  const { server, folder, dismissWatcher } = await shared;
  shared = undefined;
  await server.stop();
  await rm(folder, { recursive: true, force: true });
  dismissWatcher();
}

async function execute(databaseUrl: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

function withDatabase(databaseUrl: string, name: string): string {
  const url = new URL(databaseUrl);
  url.pathname = `/${name}`;
  return url.href;
}
