/**
 * A Redis for a spec: Debian's redis-server on a free port, without files, stopped by its process
 * id.
 */
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
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

  private constructor(port: number, access: RedisAccess) {
    this.#port = port;
    this.#access = access;
  }

  static async start(access: RedisAccess = {}): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), access);
    await server.resume();
    return server;
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
    const child = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#process = child;
    for await (const chunk of child.stdout) {
      if (String(chunk).includes('Ready to accept connections')) break;
    }
    child.stdout.destroy();
  }

  async stop(): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const isGone = once(child, 'exit');
    child.kill('SIGKILL');
    await isGone;
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
