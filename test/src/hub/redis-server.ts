/** A Redis of a story's own: Debian's redis-server on a free port, without files. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';

export interface RedisServer {
  readonly url: string;
  /** Stops it in its tracks: connections stay, and nothing is answered. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
  /** After `stop`: on the same port, empty. */
  restart(): Promise<void>;
}

export interface RedisOptions {
  /** Options of redis-server besides. */
  readonly args?: readonly string[];
  /** `user:password@` as a URL has it. */
  readonly credentials?: string;
}

/**
 * False, with the reason printed, where there is no redis-server; fails instead where all tests are
 * demanded.
 */
export function isRedisInstalled(): boolean {
  if (spawnSync('redis-server', ['--version']).status === 0) return true;
  if (process.env['FLOTILLA_TEST_REQUIRE'] === 'all')
    throw new Error('FLOTILLA_TEST_REQUIRE=all, and redis-server is not installed.');
  process.stderr.write('Skipping the stories of several processes: redis-server is not installed.\n');
  return false;
}

export async function startRedis({ args = [], credentials = '' }: RedisOptions = {}): Promise<RedisServer> {
  const port = await freePort();
  const options = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    tmpdir(),
    ...args,
  ];
  const start = async (): Promise<ChildProcess> => {
    const started = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'inherit'] });
    for await (const chunk of started.stdout) {
      if (String(chunk).includes('Ready to accept connections')) break;
    }
    started.stdout.destroy();
    return started;
  };
  let child = await start();
  return {
    url: `redis://${credentials}127.0.0.1:${port}`,
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
    restart: async () => {
      child = await start();
    },
  };
}

/** A port of 127.0.0.1 on which nothing listens. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
