/**
 * A PostgreSQL cluster of one story, which can be killed, stopped and started again. A hub creates
 * it: its embedded server outlives a `kill -9` of the hub, and is then taken over.
 */
import { spawn } from 'node:child_process';
import { openSync, closeSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { Client } from 'pg';
import { eventually } from '../eventually.js';
import { startHub } from '../hub/hub-process.js';

/** Several processes need more connections than one hub. */
const CONNECTIONS = 'max_connections=200';

export interface OwnPostgres {
  readonly port: number;
  /** With the given port in place of the server's, such as that of a front door. */
  urlAt(port: number): string;
  /** `kill -9` of the server. Its other processes end by themselves. */
  kill(): Promise<void>;
  /** SIGSTOP and SIGCONT for all its processes. */
  freeze(): void;
  thaw(): void;
  /** After `kill`, or if the server ended by itself. Waits until it answers. */
  start(): Promise<void>;
  isRunning(): boolean;
  query<Row extends object>(sql: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  stop(): Promise<void>;
}

export async function makePostgres(dataDir: string): Promise<OwnPostgres> {
  const hub = await startHub({ dataDir, embedded: true, env: { FLOTILLA_ROLES: 'gateway,api,worker' } });
  await hub.kill();
  const cluster = path.join(dataDir, 'postgres');
  const [pidLine = '', , , portLine = ''] = readFileSync(path.join(cluster, 'postmaster.pid'), 'utf8').split('\n');
  const password = readFileSync(path.join(dataDir, 'postgres.password'), 'utf8').trim();
  const port = Number(portLine);
  let pid = Number(pidLine);
  const { uid, gid } = statSync(`/proc/${pid}`);
  const [program = '', ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean);
  const urlAt = (at: number) => `postgres://flotilla:${password}@127.0.0.1:${at}/flotilla`;

  const isRunning = () => isAlive(pid);
  const gone = () => eventually(isRunning, (runs) => !runs);
  const signalAll = (signal: NodeJS.Signals) => {
    for (const each of [pid, ...childrenOf(pid)]) signalOne(each, signal);
  };
  const query = async <Row extends object>(sql: string, values: readonly unknown[] = []) => {
    const client = new Client({ connectionString: urlAt(port), connectionTimeoutMillis: 5_000 });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<Row>(sql, [...values])).rows;
    } finally {
      await client.end();
    }
  };
  const answers = () =>
    query('SELECT 1').then(
      () => true,
      () => false,
    );
  const launch = () => {
    const log = openSync(path.join(dataDir, 'postgres.log'), 'a');
    const options = [...args, '-c', CONNECTIONS];
    const child = spawn(program, options, { cwd: cluster, detached: true, stdio: ['ignore', log, log], uid, gid });
    child.unref();
    closeSync(log);
    pid = child.pid ?? 0;
  };
  const start = async () => {
    await eventually(
      async () => {
        // The processes of a killed server hold its memory for a moment, and it does not start.
        if (!isRunning()) launch();
        return answers();
      },
      (works) => works,
      60_000,
    );
  };
  const end = async (signal: NodeJS.Signals) => {
    signalAll('SIGCONT');
    signalOne(pid, signal);
    await gone();
  };
  await end('SIGINT');
  await start();
  return {
    port,
    urlAt,
    query,
    start,
    isRunning,
    kill: () => end('SIGKILL'),
    freeze: () => signalAll('SIGSTOP'),
    thaw: () => signalAll('SIGCONT'),
    stop: () => (isRunning() ? end('SIGQUIT') : Promise.resolve()),
  };
}

function signalOne(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended by itself meanwhile.
  }
}

/** A zombie counts as ended. */
function isAlive(pid: number): boolean {
  return stateOf(pid) !== undefined && stateOf(pid) !== 'Z';
}

function stateOf(pid: number): string | undefined {
  return statOf(pid)?.[0];
}

/** State and parent of a process, after its name in parentheses. */
function statOf(pid: number): readonly [string, number] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state = '', parent = ''] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return [state, Number(parent)];
  } catch {
    return undefined;
  }
}

function childrenOf(parent: number): readonly number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && statOf(pid)?.[1] === parent);
}
