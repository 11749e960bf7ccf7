import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startEmbeddedPostgres } from './start-embedded-postgres.js';
import type { EmbeddedPostgres } from './start-embedded-postgres.js';

let stopped: string;
let folder: string;
let dataDir: string;
let sharedDir: string;
const running: EmbeddedPostgres[] = [];

beforeAll(async () => {
  stopped = await mkdtemp(path.join(tmpdir(), 'flotilla-stopped-'));
  await chmod(stopped, 0o755);
  const server = await startEmbeddedPostgres({ dataDir: path.join(stopped, 'data'), sharedDir: stopped });
  await server.stop();
});

afterAll(() => rm(stopped, { recursive: true, force: true }));

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'flotilla-embedded-'));
  await chmod(folder, 0o755);
  dataDir = path.join(folder, 'data');
  sharedDir = path.join(folder, 'shared');
});

afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
  await rm(folder, { recursive: true, force: true });
});

async function start(): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir, sharedDir });
  running.push(server);
  return server;
}

/** A hub has run on the data folder: its cluster is a copy, which is faster than a new one. */
async function hadHub(): Promise<void> {
  await promisify(execFile)('cp', ['-a', path.join(stopped, 'data'), dataDir]);
}

async function ask(databaseUrl: string, sql: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ value: unknown }>(sql);
    return rows[0]?.value;
  } finally {
    await client.end();
  }
}

/** The lock of a hub that was killed: its process is gone, its server is not. */
async function killHub(): Promise<void> {
  const gone = spawn(process.execPath, ['-e', '']);
  await new Promise((resolve) => gone.once('exit', resolve));
  await writeFile(path.join(dataDir, 'hub.lock'), JSON.stringify({ pid: gone.pid, startMark: 'gone' }));
}

const isRoot = process.getuid?.() === 0;
if (!isRoot) process.stderr.write('Skipping the hidden data folder: only root runs the server as another user.\n');

describe('the embedded PostgreSQL', () => {
  it('makes a cluster once, finds its data again, and keeps its password from others', async () => {
    const first = await start();
    await ask(first.databaseUrl, 'CREATE TABLE kept AS SELECT 42 AS value');
    expect(first.notice).toBeUndefined();
    await first.stop();
    await first.stop();
    const second = await start();
    expect(await ask(second.databaseUrl, 'SELECT value FROM kept')).toBe(42);
    expect((await stat(path.join(dataDir, 'postgres.password'))).mode & 0o777).toBe(0o600);
    await expect(ask(second.databaseUrl.replace(/:[^:@]+@/, ':wrong@'), 'SELECT 1')).rejects.toThrow(/password/);
    expect(await ask(second.databaseUrl, `SELECT current_setting('listen_addresses') AS value`)).toBe('127.0.0.1');
    expect(await ask(second.databaseUrl, `SELECT lower('ÄÉ') AS value`)).toBe('äé');
  });

  it('refuses a second hub on the same folder and says who has it', async () => {
    await hadHub();
    await start();
    await expect(start()).rejects.toMatchObject({
      code: 'DATA_DIR_IN_USE',
      message: expect.stringContaining(String(process.pid)),
    });
  });

  it('adopts the server that a killed hub left running', async () => {
    await hadHub();
    const orphaned = await startEmbeddedPostgres({ dataDir, sharedDir });
    await killHub();
    const adopted = await start();
    expect(adopted.pid).toBe(orphaned.pid);
    expect(adopted.databaseUrl).toBe(orphaned.databaseUrl);
  });

  it('starts again after its server was killed too', async () => {
    await hadHub();
    const server = await startEmbeddedPostgres({ dataDir, sharedDir });
    await ask(server.databaseUrl, 'CREATE TABLE kept AS SELECT 42 AS value');
    process.kill(server.pid, 'SIGKILL');
    await killHub();
    const recovered = await start();
    expect(recovered.pid).not.toBe(server.pid);
    expect(await ask(recovered.databaseUrl, 'SELECT value FROM kept')).toBe(42);
  });

  it('starts a server again that ended while the hub runs, at the same address', async () => {
    await hadHub();
    const log: string[] = [];
    const note = (_fields: object, message: string) => void log.push(message);
    const server = await startEmbeddedPostgres({ dataDir, sharedDir, logger: { info: note, warn: note, error: note } });
    running.push(server);
    const { pid } = server;
    await ask(server.databaseUrl, 'CREATE TABLE kept AS SELECT 42 AS value');
    process.kill(pid, 'SIGKILL');
    const value = () => ask(server.databaseUrl, 'SELECT value FROM kept').catch(() => undefined);
    await expect.poll(value, { timeout: 20_000 }).toBe(42);
    await expect.poll(() => log.at(-1)).toBe('the embedded PostgreSQL runs again');
    expect(server.pid).not.toBe(pid);
    await server.stop();
    expect(await value()).toBeUndefined();
  });

  it('does not take a process for its server that only has the number of one', async () => {
    await hadHub();
    const pidFile = path.join(dataDir, 'postgres', 'postmaster.pid');
    await writeFile(
      pidFile,
      [String(process.pid), path.join(dataDir, 'postgres'), '1', '1', '', '127.0.0.1', '1', 'ready', ''].join('\n'),
    );
    const again = await start();
    expect(again.pid).not.toBe(process.pid);
  });

  it('does not take a hidden process for its server, where nothing listens on the port of the server', async () => {
    await hadHub();
    // Like processes of other users, one that has ended shows no working folder.
    const parent = spawn('/bin/sh', ['-c', 'true & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
    try {
      const [pid] = (await once(parent.stdout, 'data')) as [Buffer];
      await expect.poll(() => readlink(`/proc/${String(pid).trim()}/cwd`).catch(() => 'hidden')).toBe('hidden');
      const lines = [String(pid).trim(), path.join(dataDir, 'postgres'), '1', '1', '', '127.0.0.1', '1', 'ready', ''];
      await writeFile(path.join(dataDir, 'postgres', 'postmaster.pid'), lines.join('\n'));
      expect((await start()).pid).not.toBe(Number(pid));
    } finally {
      parent.kill();
    }
  });

  it('runs in a separate process group', async () => {
    await hadHub();
    const server = await start();
    const fields = (await readFile(`/proc/${String(server.pid)}/stat`, 'utf8')).split(') ')[1]?.split(' ');
    expect(Number(fields?.[2])).toBe(server.pid);
  });

  it.runIf(isRoot)('leaves a lock that the user of the hub can judge, also if root was killed', async () => {
    const before = process.umask(0o077);
    try {
      await start();
    } finally {
      process.umask(before);
    }
    const lock = path.join(dataDir, 'hub.lock');
    const { uid, gid } = await stat(path.join(dataDir, 'postgres'));
    await chown(dataDir, uid, gid);
    const reader = spawn(process.execPath, ['-e', `require('fs').readFileSync('${lock}')`], { uid, gid, cwd: '/' });
    expect((await once(reader, 'exit'))[0]).toBe(0);
  });

  it.runIf(isRoot)('leaves a log that the user of the hub can continue, if root made it', async () => {
    await hadHub();
    const { uid, gid } = await stat(path.join(dataDir, 'postgres'));
    await chown(dataDir, uid, gid);
    const log = path.join(dataDir, 'postgres.log');
    await rm(log);
    await start();
    expect(await stat(log)).toMatchObject({ uid, gid, mode: 0o100600 });
  });

  it.runIf(isRoot)('goes to the shared folder, and says so, when its user cannot reach the data folder', async () => {
    const hidden = path.join(folder, 'hidden');
    dataDir = path.join(hidden, 'data');
    await mkdir(hidden, { mode: 0o700 });
    const server = await start();
    expect(server.notice).toContain(sharedDir);
    await ask(server.databaseUrl, 'CREATE TABLE kept AS SELECT 42 AS value');
    await server.stop();
    expect(await ask((await start()).databaseUrl, 'SELECT value FROM kept')).toBe(42);
  });

  it.runIf(isRoot)('finds the cluster of an ordinary user whose folder others cannot enter', async () => {
    await hadHub();
    const first = await start();
    await ask(first.databaseUrl, 'CREATE TABLE kept AS SELECT 42 AS value');
    await first.stop();
    const cluster = await stat(path.join(dataDir, 'postgres'));
    await chown(dataDir, cluster.uid, 0);
    await chmod(dataDir, 0o700);
    const second = await start();
    expect(second.notice).toBeUndefined();
    expect(await ask(second.databaseUrl, 'SELECT value FROM kept')).toBe(42);
  });

  it.runIf(isRoot)('is reached in folders that are made with it, by its user and no other', async () => {
    const above = path.join(folder, 'above');
    dataDir = path.join(above, 'data');
    const before = process.umask(0o077);
    try {
      expect((await start()).notice).toBeUndefined();
    } finally {
      process.umask(before);
    }
    const cluster = await stat(path.join(dataDir, 'postgres'));
    for (const made of [above, dataDir])
      expect(await stat(made)).toMatchObject({ uid: 0, gid: cluster.gid, mode: 0o40710 });
  });

  it('does not start over a cluster whose password is lost', async () => {
    await hadHub();
    await rm(path.join(dataDir, 'postgres.password'));
    await expect(start()).rejects.toMatchObject({
      code: 'EMBEDDED_SERVER_FAILED',
      message: expect.stringContaining('postgres.password'),
    });
  });

  it('leaves files alone that are no cluster of it', async () => {
    await mkdir(path.join(dataDir, 'postgres'), { recursive: true });
    await writeFile(path.join(dataDir, 'postgres', 'diary.txt'), 'My diary');
    await expect(start()).rejects.toMatchObject({
      code: 'EMBEDDED_SERVER_FAILED',
      message: expect.stringContaining('PG_VERSION is missing'),
    });
    expect(await readFile(path.join(dataDir, 'postgres', 'diary.txt'), 'utf8')).toBe('My diary');
  });

  it('names the setting when the data folder is not a folder', async () => {
    await writeFile(dataDir, 'a file');
    await expect(start()).rejects.toMatchObject({
      code: 'EMBEDDED_SERVER_FAILED',
      message: expect.stringContaining('FLOTILLA_DATA_DIR'),
    });
  });
});
