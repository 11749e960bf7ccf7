/**
 * The built hub as a child process with free ports and a temporary data folder. Stories use a
 * migrated database on the server of the test run, which saves a third of the time; benches and
 * stories of the default start an embedded server.
 */
import { randomUUID } from 'node:crypto';
import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { eventually } from '../eventually.js';
import { PATIENCE } from '../patience.js';
import { openTestDatabase } from './test-database.js';

const hubMain = fileURLToPath(new URL('../../../apps/hub/dist/program/main.js', import.meta.url));

/**
 * Options of Node for every hub. In a young generation of 64 MB most calls end before its first
 * collection; with the default of 16 MB each survives two. [docs/benchmarks.md]
 */
export const hubNodeOptions: readonly string[] = ['--max-semi-space-size=64'];

/** A hub has this long to become ready, ms: a first start makes a database cluster. */
const READY_WITHIN_MS = 60_000 * PATIENCE;

export interface HubOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** Another program than the hub that was built. */
  readonly main?: string;
  /** An existing folder, to start a second time on what the first left. */
  readonly dataDir?: string;
  /** Ms that it has to become ready. */
  readonly readyWithinMs?: number;
  /**
   * With an embedded PostgreSQL in the data folder, the default. After a crash the next hub takes
   * over at once, because no other process can use it.
   */
  readonly embedded?: boolean;
}

/**
 * A running hub. `stop` is what Ctrl-C does; `kill` is `kill -9` of the hub alone, its PostgreSQL
 * goes on.
 */
export interface HubProcess {
  readonly pid: number;
  readonly dataDir: string;
  readonly httpUrl: string;
  readonly httpPort: number;
  /** 0 where this process is no gateway. */
  readonly mqttPort: number;
  /** 0 where it has no certificate. */
  readonly mqttsPort: number;
  readonly udpPort: number;
  readonly adminKey: string;
  /** Empty when devices have individual credentials. */
  readonly deviceSecret: string;
  /** Everything it wrote to standard error so far. */
  log(): string;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  kill(): Promise<void>;
  /** Resolves to the exit code when it ended for any reason; null after a signal. */
  readonly exited: Promise<number | null>;
}

/** A folder that every user may enter, so that the database server's user can reach its cluster. */
export function makeDataDir(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'flotilla-story-'));
  chmodSync(folder, 0o755);
  return folder;
}

export function removeDataDir(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/**
 * Starts the hub and waits for its ready line. Rejects with its log when it ends before, or is not
 * ready in time; then nothing of it runs on.
 */
export async function startHub(options: HubOptions = {}): Promise<HubProcess> {
  const dataDir = options.dataDir ?? makeDataDir();
  const env = options.embedded ? options.env : { ...(await databaseOf(dataDir, options.env)), ...options.env };
  const child = spawn(process.execPath, [...hubNodeOptions, options.main ?? hubMain, ...(options.args ?? [])], {
    env: hubEnvironment(dataDir, env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const log: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => log.push(text));
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  let isEndExpected = false;
  const within = options.readyWithinMs ?? READY_WITHIN_MS;
  const ready = await readyLine(child, exited, {
    within,
    log: () => log.join(''),
    giveUp: () => endHub(child, exited, dataDir),
  });
  const adminKey = env?.['FLOTILLA_ADMIN_KEY'] ?? secretIn(dataDir, 'admin.key');
  if (adminKey === undefined) {
    await endHub(child, exited, dataDir);
    throw new Error('The hub wrote no admin.key, because its database is elsewhere. Pass FLOTILLA_ADMIN_KEY to it.');
  }
  void exited.then((code) => {
    if (!isEndExpected) process.stderr.write(`A hub ended by itself with exit code ${code}:\n${log.join('')}\n`);
  });
  return {
    pid: child.pid ?? 0,
    dataDir,
    httpUrl: `http://127.0.0.1:${ready.http}`,
    httpPort: ready.http,
    mqttPort: ready.mqtt ?? 0,
    mqttsPort: ready.mqtts ?? 0,
    udpPort: ready.udp ?? 0,
    adminKey,
    deviceSecret: options.env?.['FLOTILLA_DEVICE_SECRET'] ?? secretIn(dataDir, 'device.secret') ?? '',
    log: () => log.join(''),
    exited,
    stop: (signal = 'SIGINT') => {
      isEndExpected = true;
      child.kill(signal);
      return exited;
    },
    kill: async () => {
      isEndExpected = true;
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** The database and the admin's key of each data folder, which a second start finds again. */
const databases = new Map<string, Promise<Readonly<Record<string, string>>>>();

/** Undefined outside of a test run, and when a story brings a database. */
async function databaseOf(dataDir: string, env: HubOptions['env']): Promise<HubOptions['env']> {
  if (process.env['FLOTILLA_TEST_POSTGRES'] === undefined || env?.['DATABASE_URL'] !== undefined) return undefined;
  const database =
    databases.get(dataDir) ??
    openTestDatabase({ migrated: true }).then(({ url }) => ({
      DATABASE_URL: url,
      FLOTILLA_ADMIN_KEY: `admin-${randomUUID()}`,
    }));
  databases.set(dataDir, database);
  return database;
}

/** `kill -9` of the hub, and the end of the PostgreSQL that it would leave. */
async function endHub(child: ChildProcess, exited: Promise<number | null>, dataDir: string): Promise<void> {
  child.kill('SIGKILL');
  await exited;
  const cluster = path.join(dataDir, 'postgres');
  const pid = postmasterOf(cluster);
  if (pid === undefined) return;
  process.kill(pid, 'SIGINT');
  // It removes its pid file a moment before it ends.
  await eventually(
    () => worksIn(pid, cluster),
    (works) => !works,
  );
}

/**
 * The server that the cluster's postmaster.pid names. The file of one that is gone may name
 * anybody: a server works in the folder of its cluster.
 */
function postmasterOf(cluster: string): number | undefined {
  try {
    const pid = Number(readFileSync(path.join(cluster, 'postmaster.pid'), 'utf8').split('\n')[0]);
    return worksIn(pid, cluster) ? pid : undefined;
  } catch {
    return undefined;
  }
}

function worksIn(pid: number, folder: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(folder);
  } catch {
    return false;
  }
}

function secretIn(dataDir: string, name: string): string | undefined {
  const file = path.join(dataDir, name);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
}

function hubEnvironment(dataDir: string, extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !name.startsWith('FLOTILLA_') && name !== 'DATABASE_URL' && name !== 'REDIS_URL',
    ),
  );
  const ports = { FLOTILLA_HTTP_PORT: '0', FLOTILLA_MQTT_PORT: '0', FLOTILLA_UDP_PORT: '0' };
  // Most stories start with known devices that reconnect at once, often, and do not wait for
  // planned status requests. Stories about these set them.
  const stories = {
    FLOTILLA_DEVICE_AUTH: 'hmac',
    FLOTILLA_RECONNECTS_MAX: '0',
    FLOTILLA_STATUS_INTERVAL_SECONDS: '0',
    FLOTILLA_VOICELESS_SECONDS: '0',
  };
  // Processes of one hub have separate data folders here, so they need a common key.
  const common =
    extra['REDIS_URL'] === undefined ? {} : { FLOTILLA_AUDIT_KEY: 'the-audit-key-of-all-processes-of-a-story' };
  return { ...inherited, FLOTILLA_DATA_DIR: dataDir, ...ports, ...stories, ...common, ...extra };
}

interface ReadyLine {
  readonly ready: true;
  readonly http: number;
  readonly mqtt?: number;
  readonly mqtts?: number;
  readonly udp?: number;
}

function isReadyLine(value: unknown): value is ReadyLine {
  return typeof value === 'object' && value !== null && 'ready' in value && value.ready === true && 'http' in value;
}

interface ReadyWait {
  readonly within: number;
  readonly log: () => string;
  readonly giveUp: () => Promise<void>;
}

async function readyLine(
  child: ChildProcess,
  exited: Promise<number | null>,
  { within, log, giveUp }: ReadyWait,
): Promise<ReadyLine> {
  if (!child.stdout) throw new Error('The hub has no standard output.');
  const lines = createInterface({ input: child.stdout });
  const found = new Promise<ReadyLine>((resolve) => {
    lines.on('line', (line) => {
      if (!line.startsWith('{')) return;
      const parsed: unknown = JSON.parse(line);
      if (isReadyLine(parsed)) resolve(parsed);
    });
  });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`The hub was not ready within ${within} ms:\n${log()}`));
    }, within);
  });
  const early = exited.then((code) =>
    Promise.reject(new Error(`The hub ended with exit code ${code} before it was ready:\n${log()}`)),
  );
  try {
    return await Promise.race([found, early, late]);
  } catch (error) {
    if (child.exitCode === null && child.signalCode === null) await giveUp();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
