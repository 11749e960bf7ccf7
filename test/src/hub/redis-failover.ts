/**
 * Redis servers that fail over: a master with a replica and three Sentinels, and a cluster of three
 * masters with a replica of the one that has the data of a hub. On free ports, without databases.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '../eventually.js';
import { freePort } from './redis-server.js';

const run = promisify(execFile);

export interface RedisGroup {
  readonly url: string;
  /** Ends the server with the data of the hub, as `kill -9` does. */
  killMaster(): Promise<void>;
  stop(): Promise<void>;
}

/** A password that a URL cannot hold as it is. */
export const redisPassword = 'p@ss:word/9f3b';
const credentials = `:${encodeURIComponent(redisPassword)}@`;
const NODE_TIMEOUT_MS = 2_000;
const SLOTS = 16_384;

export async function startSentinels(): Promise<RedisGroup> {
  const servers = await Servers.open();
  const login = ['--requirepass', redisPassword, '--masterauth', redisPassword];
  const master = await servers.start(login);
  const replica = await servers.start([...login, '--replicaof', `127.0.0.1 ${String(master.port)}`]);
  await untilInfo(replica.port, 'replication', 'master_link_status:up');
  const sentinels = [await freePort(), await freePort(), await freePort()];
  for (const port of sentinels) {
    const file = path.join(servers.folder, `sentinel-${String(port)}.conf`);
    const lines = [
      `sentinel monitor fleet 127.0.0.1 ${String(master.port)} 2`,
      `sentinel auth-pass fleet ${redisPassword}`,
      'sentinel down-after-milliseconds fleet 1000',
      'sentinel failover-timeout fleet 5000',
    ];
    await writeFile(file, [`port ${String(port)}`, 'bind 127.0.0.1', ...lines, ''].join('\n'));
    await servers.spawn([file, '--sentinel'], '+monitor master');
  }
  for (const port of sentinels)
    await eventually(
      () => cli(port, ['sentinel', 'master', 'fleet']),
      (said) => /num-slaves\n1\n/.test(said) && /num-other-sentinels\n2\n/.test(said),
      20_000,
    );
  const hosts = sentinels.map((port) => `127.0.0.1:${String(port)}`).join(',');
  return {
    url: `redis-sentinel://${credentials}${hosts}/0?sentinelMasterId=fleet`,
    killMaster: () => end(master.process),
    stop: () => servers.stop(),
  };
}

export async function startCluster(): Promise<RedisGroup> {
  const servers = await Servers.open();
  const login = ['--requirepass', redisPassword, '--masterauth', redisPassword];
  const timeout = ['--cluster-node-timeout', String(NODE_TIMEOUT_MS)];
  const nodes: Started[] = [];
  for (let index = 0; index < 4; index += 1)
    nodes.push(await servers.start([...login, '--cluster-enabled', 'yes', ...timeout]));
  const [master, second, third, replica] = nodes as [Started, Started, Started, Started];
  const tagSlot = Number(await cli(master.port, ['cluster', 'keyslot', '{flotilla}']));
  const [lower, upper] = tagSlot < SLOTS - 2 ? [SLOTS - 2, SLOTS - 1] : [0, 1];
  const most = lower === 0 ? [2, SLOTS - 1] : [0, SLOTS - 3];
  await cli(master.port, ['cluster', 'addslotsrange', ...most.map(String)]);
  await cli(second.port, ['cluster', 'addslots', String(lower)]);
  await cli(third.port, ['cluster', 'addslots', String(upper)]);
  for (const [index, { port }] of [master, second, third].entries())
    await cli(port, ['cluster', 'set-config-epoch', String(index + 1)]);
  for (const { port } of [second, third, replica])
    await cli(port, ['cluster', 'meet', '127.0.0.1', String(master.port)]);
  for (const { port } of nodes)
    await eventually(
      () => cli(port, ['cluster', 'info']),
      (said) => said.includes('cluster_known_nodes:4') && said.includes('cluster_state:ok'),
      20_000,
    );
  const masterId = (await cli(master.port, ['cluster', 'myid'])).trim();
  await eventually(
    () => cli(replica.port, ['cluster', 'replicate', masterId]),
    (said) => said.includes('OK'),
  );
  await untilInfo(replica.port, 'replication', 'master_link_status:up');
  const hosts = [second, third].map(({ port }) => `127.0.0.1:${String(port)}`).join(',');
  return {
    // The node with the data is not named: the hub finds it.
    url: `redis-cluster://${credentials}${hosts}`,
    killMaster: () => end(master.process),
    stop: () => servers.stop(),
  };
}

interface Started {
  readonly port: number;
  readonly process: ChildProcess;
}

/** The processes of one group and their folder. */
class Servers {
  readonly #processes: ChildProcess[] = [];

  private constructor(readonly folder: string) {}

  static async open(): Promise<Servers> {
    return new Servers(await mkdtemp(path.join(tmpdir(), 'flotilla-redis-')));
  }

  async start(options: readonly string[]): Promise<Started> {
    const port = await freePort();
    const folder = path.join(this.folder, String(port));
    await mkdir(folder);
    const common = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder];
    return { port, process: await this.spawn([...common, ...options], 'Ready to accept connections') };
  }

  /** Resolves when the output has this text. */
  async spawn(options: readonly string[], ready: string): Promise<ChildProcess> {
    const started = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#processes.push(started);
    for await (const chunk of started.stdout) {
      if (String(chunk).includes(ready)) break;
    }
    started.stdout.destroy();
    return started;
  }

  async stop(): Promise<void> {
    for (const each of this.#processes) await end(each);
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function end(process: ChildProcess): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return;
  const exited = once(process, 'exit');
  process.kill('SIGKILL');
  await exited;
}

async function untilInfo(port: number, section: string, text: string): Promise<void> {
  await eventually(
    () => cli(port, ['info', section]),
    (said) => said.includes(text),
    20_000,
  );
}

async function cli(port: number, command: readonly string[]): Promise<string> {
  const env = { PATH: process.env['PATH'], REDISCLI_AUTH: redisPassword };
  const { stdout } = await run('redis-cli', ['-p', String(port), ...command], { env });
  return stdout;
}
