/**
 * A PostgreSQL primary with a synchronous replica, as operators run them: Debian's PostgreSQL on
 * free ports, the replica by pg_basebackup. Root runs the servers as the user postgres.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { eventually } from '../eventually.js';
import { freePort } from './redis-server.js';

const run = promisify(execFile);
const VERSIONS = '/usr/lib/postgresql';

/** The folder with the programs of the newest PostgreSQL of Debian. */
const programs = existsSync(VERSIONS)
  ? readdirSync(VERSIONS)
      .sort((one, other) => Number(other) - Number(one))
      .map((version) => path.join(VERSIONS, version, 'bin'))
      .find((folder) => ['postgres', 'initdb', 'pg_basebackup'].every((name) => existsSync(path.join(folder, name))))
  : undefined;

/** False, with a printed reason, without these programs; throws if all tests are required. */
export function isPostgresInstalled(): boolean {
  if (programs !== undefined) return true;
  if (process.env['FLOTILLA_TEST_REQUIRE'] === 'all')
    throw new Error('FLOTILLA_TEST_REQUIRE=all, and the Debian package postgresql is not installed.');
  process.stderr.write('Skipping the failover of PostgreSQL: the Debian package postgresql is not installed.\n');
  return false;
}

export interface FailoverPostgres {
  /** Names both servers, the replica first. */
  readonly url: string;
  /** Ends the primary without a shutdown. */
  killPrimary(): Promise<void>;
  /** Makes the replica the primary. */
  promote(): Promise<void>;
  stop(): Promise<void>;
}

const ROLE = 'hub';
const DATABASE = 'flotilla';
/** A password that a URL cannot hold as it is. */
export const postgresPassword = 'p@ss:word/7c1d';
const account = { user: ROLE, password: postgresPassword, host: '127.0.0.1' };

export async function startFailoverPostgres(): Promise<FailoverPostgres> {
  const servers = new Servers();
  const [primaryPort, replicaPort] = [await freePort(), await freePort()];
  await servers.initialise('primary');
  const primary = await servers.start('primary', primaryPort, []);
  await query(primaryPort, `CREATE DATABASE ${DATABASE}`);
  const { user, password, host } = account;
  const source = `host=${host} port=${String(primaryPort)} user=${user} password='${password}'`;
  // The default waits minutes for a checkpoint.
  const copy = ['-D', servers.pathOf('replica'), '-R', '-X', 'stream', '-c', 'fast', '--no-sync'];
  await servers.execute('pg_basebackup', ...copy, '-d', `${source} application_name=replica`);
  await servers.start('replica', replicaPort, []);
  // Only now, because a commit waits for the replica from here on.
  await query(primaryPort, `ALTER SYSTEM SET synchronous_standby_names = 'replica'`);
  await query(primaryPort, 'SELECT pg_reload_conf()');
  await eventually(
    () => query(primaryPort, 'SELECT sync_state FROM pg_stat_replication'),
    (rows) => JSON.stringify(rows) === '[{"sync_state":"sync"}]',
  );
  const login = `${user}:${encodeURIComponent(password)}`;
  const hosts = [replicaPort, primaryPort].map((port) => `${host}:${String(port)}`).join(',');
  return {
    url: `postgresql://${login}@${hosts}/${DATABASE}?target_session_attrs=read-write`,
    killPrimary: () => servers.kill(primary),
    promote: async () => {
      await query(replicaPort, 'SELECT pg_promote(true, 30)');
    },
    stop: () => servers.stop(),
  };
}

/** The processes of both servers and their folder. */
class Servers {
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'flotilla-failover-'));
  readonly #user = serverUser();
  readonly #running: ChildProcess[] = [];

  constructor() {
    this.#give(this.#folder);
  }

  pathOf(name: string): string {
    return path.join(this.#folder, name);
  }

  async execute(program: string, ...args: readonly string[]): Promise<void> {
    await run(path.join(programs ?? '', program), args, this.#options);
  }

  async initialise(name: string): Promise<void> {
    const file = this.pathOf('password');
    writeFileSync(file, postgresPassword, { mode: 0o600 });
    this.#give(file);
    const access = ['--auth=scram-sha-256', `--username=${ROLE}`, `--pwfile=${file}`];
    await this.execute('initdb', '-D', this.pathOf(name), '--encoding=UTF8', '--locale=C', '--no-sync', ...access);
  }

  /** Resolves when it answers. */
  async start(name: string, port: number, settings: readonly string[]): Promise<ChildProcess> {
    const common = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', ...settings];
    const args = ['-D', this.pathOf(name), '-p', String(port), ...common.flatMap((setting) => ['-c', setting])];
    const server = spawn(path.join(programs ?? '', 'postgres'), args, { ...this.#options, stdio: 'ignore' });
    this.#running.push(server);
    await eventually(
      () =>
        query(port, 'SELECT 1').then(
          () => true,
          () => false,
        ),
      (isUp) => isUp,
    );
    return server;
  }

  /** Its children end with it, because they find the postmaster gone. */
  async kill(server: ChildProcess): Promise<void> {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, 'exit');
    server.kill('SIGKILL');
    await exited;
  }

  async stop(): Promise<void> {
    for (const server of this.#running) {
      if (server.exitCode !== null || server.signalCode !== null) continue;
      const exited = once(server, 'exit');
      // Immediate shutdown, which also ends its children.
      server.kill('SIGQUIT');
      await exited;
    }
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }

  get #options() {
    return { cwd: this.#folder, env: { PATH: process.env['PATH'], LC_ALL: 'C' }, ...this.#user };
  }

  #give(file: string): void {
    if (this.#user !== undefined) chownSync(file, this.#user.uid, this.#user.gid);
  }
}

/** PostgreSQL refuses to run as root. Undefined for other users. */
function serverUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const entry = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .find(([name]) => name === 'postgres');
  if (entry === undefined) throw new Error('The Debian package postgresql makes a user postgres, which is missing.');
  return { uid: Number(entry[2]), gid: Number(entry[3]) };
}

async function query(port: number, sql: string): Promise<unknown[]> {
  const client = new Client({ ...account, port, database: 'postgres', connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows as unknown[];
  } finally {
    await client.end();
  }
}
