/**
 * A Redis for a spec: Debian's redis-server on a free port, without files, stopped by its process
 * id.
 */
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { BusError } from '../bus-error.js';

/** False, with a printed reason, without redis-server; throws if all tests are required. */
export function isRedisInstalled(): boolean {
  const isInstalled = spawnSync('redis-server', ['--version']).status === 0;
  if (!isInstalled && process.env['FLOTILLA_TEST_REQUIRE'] === 'all') {
    throw new BusError('BUS_UNAVAILABLE', 'redis-server is not installed, and FLOTILLA_TEST_REQUIRE=all requires it.');
  }
  if (!isInstalled) process.stderr.write('Skipping the Redis contracts: redis-server is not installed.\n');
  return isInstalled;
}

export interface RedisAccess {
  /** Further options of redis-server. */
  readonly args?: readonly string[];
  /** `user:password` as in a URL. */
  readonly credentials?: string;
  /** PEM files; with them the server accepts only TLS. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

export class RedisServer {
  readonly #port: number;
  readonly #access: RedisAccess;
  #process: ChildProcess | undefined;
  /** Files of a cluster node or a Sentinel, removed at the stop. */
  #folder: string | undefined;

  private constructor(port: number, access: RedisAccess) {
    this.#port = port;
    this.#access = access;
  }

  static async start(access: RedisAccess = {}): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), access);
    await server.resume();
    return server;
  }

  /** A cluster of one node, which serves all slots. */
  static async startCluster(access: RedisAccess = {}): Promise<RedisServer> {
    const folder = mkdtempSync(path.join(tmpdir(), 'flotilla-cluster-'));
    const tls = access.tls === undefined ? [] : ['--tls-cluster', 'yes', '--tls-ca-cert-file', access.tls.cert];
    const args = [...(access.args ?? []), ...tls, '--cluster-enabled', 'yes', '--dir', folder];
    const server = await RedisServer.start({ ...access, args });
    server.#folder = folder;
    const redis = new Redis(server.url, access.tls === undefined ? {} : { tls: { rejectUnauthorized: false } });
    await redis.call('CLUSTER', 'ADDSLOTSRANGE', 0, 16_383);
    let info = '';
    while (!info.includes('cluster_state:ok')) info = String(await redis.call('CLUSTER', 'INFO'));
    redis.disconnect();
    return server;
  }

  /** A Sentinel that monitors one master under this name, with TLS if the master has it. */
  static async startSentinel(masterName: string, master: RedisServer): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), {});
    server.#folder = mkdtempSync(path.join(tmpdir(), 'flotilla-sentinel-'));
    const file = path.join(server.#folder, 'sentinel.conf');
    const { username, password } = new URL(master.url);
    const login = [
      ...(username === '' ? [] : [`sentinel auth-user ${masterName} ${decodeURIComponent(username)}`]),
      ...(password === '' ? [] : [`sentinel auth-pass ${masterName} ${decodeURIComponent(password)}`]),
    ];
    const { tls } = master.#access;
    const ports =
      tls === undefined
        ? [`port ${String(server.port)}`]
        : ['port 0', `tls-port ${String(server.port)}`, `tls-cert-file ${tls.cert}`, `tls-key-file ${tls.key}`].concat(
            `tls-ca-cert-file ${tls.cert}`,
            'tls-auth-clients no',
            'tls-replication yes',
          );
    const monitor = `sentinel monitor ${masterName} 127.0.0.1 ${String(master.port)} 1`;
    writeFileSync(file, [...ports, 'bind 127.0.0.1', monitor, ...login, ''].join('\n'));
    await server.#spawn([file, '--sentinel'], '+monitor master');
    return server;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return this.urlWith(this.#access.credentials);
  }

  urlWith(credentials: string | undefined): string {
    const scheme = this.#access.tls === undefined ? 'redis' : 'rediss';
    return `${scheme}://${credentials === undefined ? '' : `${credentials}@`}127.0.0.1:${this.#port}`;
  }

  /** Suspends the process: connections stay, and nothing is answered. */
  freeze(): void {
    this.#process?.kill('SIGSTOP');
  }

  thaw(): void {
    this.#process?.kill('SIGCONT');
  }

  /** Starts it again on the same port, empty. */
  async resume(): Promise<void> {
    const { args = [], tls } = this.#access;
    const port = String(this.#port);
    const ports = tls
      ? [
          '--port',
          '0',
          '--tls-port',
          port,
          '--tls-cert-file',
          tls.cert,
          '--tls-key-file',
          tls.key,
          '--tls-auth-clients',
          'no',
        ]
      : ['--port', port];
    const options = [...ports, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', tmpdir(), ...args];
    await this.#spawn(options, 'Ready to accept connections');
  }

  async stop(): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const isGone = once(child, 'exit');
    child.kill('SIGKILL');
    await isGone;
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Resolves when its output has this text. */
  async #spawn(options: readonly string[], ready: string): Promise<void> {
    const child = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#process = child;
    for await (const chunk of child.stdout) {
      if (String(chunk).includes(ready)) break;
    }
    child.stdout.destroy();
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
