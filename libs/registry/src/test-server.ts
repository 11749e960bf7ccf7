/**
 * The PostgreSQL of a test run: one embedded server that the runner starts before the first spec
 * and stops after the last (`globalSetup` of vitest.config.ts). Specs and stories find it by
 * FLOTILLA_TEST_POSTGRES. Its data is not flushed to disk.
 */
import { spawn } from 'node:child_process';
import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { Database } from './database/database.js';
import { migrate } from './database/migrate.js';
import { makePartitions } from './database/partitions.js';
import { startEmbeddedPostgres } from './embedded/start-embedded-postgres.js';
import { silentLogger } from './registry-logger.js';

/** A database with all migrations and the partitions of these days. Specs copy theirs from it. */
export const TEMPLATE_DATABASE = 'migrated';

/**
 * Nothing here must survive a power cut, and the hubs of several stories at once want more
 * connections than one hub does.
 */
const settings = { fsync: 'off', full_page_writes: 'off', max_connections: '300' };

/** Starts the server; the returned function stops it and removes its files. @public */
export default async function startTestServer(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(path.join(await findParentFolder(), 'flotilla-test-'));
  // As root the server runs as another user, who must be able to enter.
  await chmod(folder, 0o755);
  const server = await startEmbeddedPostgres({ dataDir: folder, settings });
  const dismissWatcher = watch(server.pid, folder);
  await execute(server.databaseUrl, `CREATE DATABASE ${TEMPLATE_DATABASE}`);
  await fillTemplate(withDatabase(server.databaseUrl, TEMPLATE_DATABASE));
  process.env['FLOTILLA_TEST_POSTGRES'] = server.databaseUrl;
  return async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
    dismissWatcher();
  };
}

const MEMORY_FOLDER = '/dev/shm';
/** A run of all specs has less than 1 GB at a time, a long run much more. */
const MEMORY_BYTES = 4 * 1024 ** 3;

/** A copy of the template has a thousand files: in memory it is made in 80 ms, on a disk in 200. */
async function findParentFolder(): Promise<string> {
  if (process.env['FLOTILLA_TEST_LONG'] === '1') return tmpdir();
  const memory = await statfs(MEMORY_FOLDER).catch(() => undefined);
  return memory && memory.bavail * memory.bsize >= MEMORY_BYTES ? MEMORY_FOLDER : tmpdir();
}

/** With partitions a copy is opened in 100 ms instead of 230. */
async function fillTemplate(databaseUrl: string): Promise<void> {
  await migrate(databaseUrl);
  const database = new Database(databaseUrl, 1, silentLogger, undefined);
  try {
    await makePartitions(database, Date.now(), silentLogger);
  } finally {
    await database.close();
  }
}

const WATCH = 'while kill -0 "$1" 2>/dev/null; do sleep 1; done; kill -QUIT "$2" 2>/dev/null; sleep 1; rm -rf "$3"';

/** Starts a small process that ends the server and removes its files if the runner is killed. */
function watch(serverPid: number, folder: string): () => void {
  const watcher = spawn('/bin/sh', ['-c', WATCH, 'sh', String(process.pid), String(serverPid), folder], {
    detached: true,
    stdio: 'ignore',
  });
  watcher.unref();
  return () => watcher.kill();
}

export async function execute(databaseUrl: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

export function withDatabase(databaseUrl: string, name: string): string {
  const url = new URL(databaseUrl);
  url.pathname = `/${name}`;
  return url.href;
}
