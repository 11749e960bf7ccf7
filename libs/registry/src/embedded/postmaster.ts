/**
 * Starts, finds and stops the server process of one cluster. It has its own process group, so that
 * Ctrl-C does not reach it while the hub flushes. It outlives a hub that is killed; the next start
 * adopts it.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RegistryError } from '../registry-error.js';
import type { Binaries } from './binaries.js';
import type { Cluster } from './cluster.js';
import { endOfLog, openLog, setAsideBigLog } from './postgres-log.js';
import { isAlive, workingFolder } from './process-identity.js';

export interface Postmaster {
  readonly pid: number;
  readonly port: number;
}

/** Crash recovery takes seconds, and longer on the disk of a laptop. */
const START_DEADLINE_MS = 120_000;
/** Fast shutdown ends with a checkpoint. After this time the server is stopped at once. */
const STOP_DEADLINE_MS = 60_000;
const POLL_MS = 20;
/** A server of this machine answers at once. */
const LISTENS_WITHIN_MS = 2_000;
/** The state of a server that accepts statements. */
const READY = 'ready';
/** Another process may take the free port, and a killed server frees its memory after a moment. */
const START_ATTEMPTS_MAX = 5;
const PASSING_TROUBLE = /could not bind|could not create any TCP\/IP sockets|shared memory block/;
const START_AGAIN_AFTER_MS = 500;

/**
 * For many short transactions of one hub. Sixty connections are for the registry, the queue, a
 * second hub process, backups and psql.
 */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '60',
  shared_buffers: '192MB',
  effective_cache_size: '512MB',
  work_mem: '16MB',
  maintenance_work_mem: '64MB',
  wal_level: 'replica',
  max_wal_senders: '0',
  wal_buffers: '16MB',
  max_wal_size: '2GB',
  min_wal_size: '256MB',
  checkpoint_timeout: '15min',
  synchronous_commit: 'on',
  random_page_cost: '1.1',
  jit: 'off',
  autovacuum_naptime: '15s',
  autovacuum_vacuum_cost_delay: '1ms',
  timezone: 'UTC',
  log_timezone: 'UTC',
} as const;

interface PostmasterOptions {
  readonly logFile: string;
  /** Before the hub's own settings. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /** By default a free one. */
  readonly port?: number;
}

/**
 * Returns the running server of this cluster, or starts one. Retries after failures that pass.
 */
export async function runPostmaster(
  cluster: Cluster,
  binaries: Binaries,
  options: PostmasterOptions,
): Promise<Postmaster> {
  const running = await findRunning(cluster.folder);
  if (running !== undefined) return running;
  await setAsideBigLog(options.logFile);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start(cluster, binaries, options, options.port ?? (await freePort()));
    } catch (error) {
      if (attempt >= START_ATTEMPTS_MAX || !PASSING_TROUBLE.test(await endOfLog(options.logFile))) throw error;
      await sleep(START_AGAIN_AFTER_MS);
    }
  }
}

/**
 * Fast shutdown: open transactions are rolled back, everything committed is on disk. Resolves when
 * the process is gone.
 */
export async function stopPostmaster(pid: number): Promise<void> {
  signal(pid, 'SIGINT');
  if (await isGone(pid, STOP_DEADLINE_MS)) return;
  signal(pid, 'SIGQUIT');
  if (await isGone(pid, STOP_DEADLINE_MS)) return;
  throw new RegistryError(
    'EMBEDDED_SERVER_FAILED',
    `PostgreSQL (process ${String(pid)}) did not stop within ${String((2 * STOP_DEADLINE_MS) / 1000)} s.`,
  );
}

/**
 * The running server of this cluster. Waits for one that starts or stops, and ignores other
 * processes.
 */
export async function findRunning(folder: string): Promise<Postmaster | undefined> {
  const deadline = Date.now() + START_DEADLINE_MS;
  while (Date.now() < deadline) {
    const noted = await readPidFile(folder);
    if (noted === undefined) return undefined;
    if (!isAlive(noted.pid) || !(await isServerOf(folder, noted))) {
      await rm(path.join(folder, 'postmaster.pid'), { force: true });
      return undefined;
    }
    if (noted.state === READY) return noted;
    await sleep(POLL_MS);
  }
  throw new RegistryError(
    'EMBEDDED_SERVER_FAILED',
    `A PostgreSQL server works on ${folder} but does not become ready.`,
  );
}

/**
 * A server's working folder is its data folder. Where the system hides it, as for other users, the
 * server listens on its port while its file has a state; a process with a former number does not.
 */
async function isServerOf(folder: string, { pid, port, state }: NotedPostmaster): Promise<boolean> {
  const current = await workingFolder(pid);
  if (current !== undefined) return current === folder;
  return state === '' || (await isListening(port));
}

/** False only if the connection is refused. */
async function isListening(port: number): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port, timeout: LISTENS_WITHIN_MS });
  try {
    return await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('timeout', () => resolve(true));
      socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code !== 'ECONNREFUSED'));
    });
  } finally {
    socket.destroy();
  }
}

interface NotedPostmaster extends Postmaster {
  readonly state: string;
}

/** Lines of postmaster.pid: 1 the process, 4 the port, 8 the state. */
async function readPidFile(folder: string): Promise<NotedPostmaster | undefined> {
  const text = await readFile(path.join(folder, 'postmaster.pid'), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const lines = text.split('\n');
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  return { pid, port: Number(lines[3]), state: lines[7]?.trim() ?? '' };
}

async function start(
  cluster: Cluster,
  binaries: Binaries,
  options: PostmasterOptions,
  port: number,
): Promise<Postmaster> {
  const { logFile } = options;
  const log = await openLog(logFile);
  try {
    const settings = Object.entries({ ...SETTINGS, ...options.settings }).flatMap(([name, value]) => [
      '-c',
      `${name}=${value}`,
    ]);
    const child = spawn(binaries.postgres, ['-D', cluster.folder, '-p', String(port), ...settings], {
      cwd: cluster.folder,
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
      env: { PATH: process.env['PATH'], LC_ALL: 'C' },
      ...(cluster.user === undefined ? {} : { uid: cluster.user.uid, gid: cluster.user.gid }),
    });
    child.unref();
    return await becomesReady(cluster.folder, child, logFile);
  } finally {
    await log.close();
  }
}

async function becomesReady(folder: string, child: ChildProcess, logFile: string): Promise<Postmaster> {
  let spawnError: Error | undefined;
  child.on('error', (error) => {
    spawnError = error;
  });
  const deadline = Date.now() + START_DEADLINE_MS;
  while (Date.now() < deadline && spawnError === undefined && child.exitCode === null && child.signalCode === null) {
    const noted = await readPidFile(folder);
    if (noted?.state === READY && noted.pid === child.pid) return noted;
    await sleep(POLL_MS);
  }
  if (child.pid !== undefined) signal(child.pid, 'SIGQUIT');
  throw new RegistryError(
    'EMBEDDED_SERVER_FAILED',
    `PostgreSQL did not start on ${folder}${spawnError === undefined ? '' : ` (${spawnError.message})`}. ` +
      'If the files are damaged, restore a backup, or move the folder to start with an empty database. ' +
      `The end of ${logFile}:\n${await endOfLog(logFile)}`,
    { cause: spawnError },
  );
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string')
    throw new RegistryError('EMBEDDED_SERVER_FAILED', 'There is no free port on 127.0.0.1.');
  return address.port;
}

function signal(pid: number, name: 'SIGINT' | 'SIGQUIT'): void {
  try {
    process.kill(pid, name);
  } catch {
    // It ended by itself, which is what the signal was for.
  }
}

async function isGone(pid: number, withinMs: number): Promise<boolean> {
  const deadline = Date.now() + withinMs;
  while (isAlive(pid)) {
    if (Date.now() > deadline) return false;
    await sleep(POLL_MS);
  }
  return true;
}
