/** A Redis of a story's own: Debian's redis-server on a free port, without files. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';

export interface RedisServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** False, with the reason printed, where there is no redis-server; fails instead where all tests are demanded. */
export function isRedisInstalled(): boolean {
  if (spawnSync('redis-server', ['--version']).status === 0) return true;
  if (process.env['FLOTILLA_TEST_REQUIRE'] === 'all') throw new Error('FLOTILLA_TEST_REQUIRE=all, and redis-server is not installed.');
  process.stderr.write('Skipping the stories of several processes: redis-server is not installed.\n');
  return false;
}

export async function startRedis(): Promise<RedisServer> {
  const port = await freePort();
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', tmpdir()];
  const child = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  for await (const chunk of child.stdout) {
    if (String(chunk).includes('Ready to accept connections')) break;
  }
  child.stdout.destroy();
  return {
    url: `redis://127.0.0.1:${port}`,
    stop: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
