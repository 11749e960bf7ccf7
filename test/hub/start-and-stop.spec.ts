/** The embedded default from the outside: it starts in any folder and as any user, stops without leaving a process behind, and finds its data again. */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../src/eventually.js';
import { ask } from '../src/api/graphql-client.js';
import { makeDataDir, removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { online } from '../src/jobs/job-api.js';

const isRoot = process.getuid?.() === 0;
if (!isRoot) process.stderr.write('Skipping the starts as root and as another user: only root can set them up.\n');
const hubMain = fileURLToPath(new URL('../../apps/hub/dist/main.js', import.meta.url));

/** Command lines of living processes that name the folder: the hub's own has it in its environment only, its PostgreSQL and fleet as arguments. */
function processesOf(dataDir: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((pid) => `${pid} ${readProcess(pid, 'cmdline')} ${readProcess(pid, 'environ')}`)
    .filter((line) => line.includes(dataDir));
}

/** A process may end while it is looked at. */
function readProcess(pid: string, file: 'cmdline' | 'environ'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

describe('the hub’s life', () => {
  const folders: string[] = [];
  const running = new Set<HubProcess>();

  const start = async (...args: Parameters<typeof startHub>) => {
    const hub = await startHub(...args);
    running.add(hub);
    return hub;
  };
  const stop = async (hub: HubProcess, signal?: NodeJS.Signals) => {
    running.delete(hub);
    return hub.stop(signal);
  };

  afterEach(async () => {
    for (const hub of running) await stop(hub);
    folders.splice(0).forEach(removeDataDir);
  });

  it('stops everything on Ctrl-C and on SIGTERM, and a second start finds its data and its key', async () => {
    const dataDir = makeDataDir();
    folders.push(dataDir);
    const first = await start({ dataDir, args: ['--demo'], env: { FLOTILLA_LOG_LEVEL: 'warn' } });
    await online(first, 43);
    const keyFile = path.join(dataDir, 'admin.key');
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    expect(first.log()).toContain(first.adminKey);
    expect(await stop(first, 'SIGINT')).toBe(0);
    expect(processesOf(dataDir)).toEqual([]);

    const second = await start({ dataDir });
    expect(second.adminKey).toBe(first.adminKey);
    expect(second.log()).not.toContain(first.adminKey);
    const { devices } = await ask<{ devices: { totalCount: number; nodes: { presence: string; tools: unknown[] }[] } }>(
      second,
      '{ devices { totalCount nodes { presence tools { name } } } }',
    );
    expect(devices.totalCount).toBe(43);
    expect(devices.nodes.every((device) => device.presence === 'OFFLINE' && device.tools.length > 0)).toBe(true);
    expect(await stop(second, 'SIGTERM')).toBe(0);
    expect(processesOf(dataDir)).toEqual([]);
  });

  it('answers the README’s first query with the demo fleet', async () => {
    const dataDir = makeDataDir();
    folders.push(dataDir);
    const hub = await start({ dataDir, args: ['--demo'] });
    await online(hub, 43);
    const { devices } = await ask<{ devices: { nodes: { id: string; model: string; presence: string; tools: { name: string }[] }[] } }>(
      hub,
      '{ devices(first: 5) { nodes { id model presence tools { name } } } }',
    );
    expect(devices.nodes).toHaveLength(5);
    for (const device of devices.nodes) {
      expect(device.model).toBeTruthy();
      expect(device.presence).toBe('ONLINE');
      expect(device.tools.length).toBeGreaterThan(3);
    }
  });

  it('adopts or restarts its own PostgreSQL after a kill -9 of the hub', async () => {
    const dataDir = makeDataDir();
    folders.push(dataDir);
    const first = await start({ dataDir });
    running.delete(first);
    await first.kill();
    const second = await start({ dataDir });
    expect(second.adminKey).toBe(first.adminKey);
    expect((await fetch(`${second.httpUrl}/health/ready`)).status).toBe(200);
    expect(await stop(second)).toBe(0);
    expect(processesOf(dataDir)).toEqual([]);
  });

  it('is ended with its PostgreSQL by who started it when it is not ready in time', async () => {
    const dataDir = makeDataDir();
    folders.push(dataDir);
    const first = await start({ dataDir });
    running.delete(first);
    await first.kill();
    expect(processesOf(dataDir)).not.toEqual([]);
    await expect(startHub({ dataDir, readyWithinMs: 1 })).rejects.toThrow(/not ready within 1 ms/);
    expect(processesOf(dataDir)).toEqual([]);
  });

  it('refuses to run twice on one data folder, and leaves the first unharmed', async () => {
    const dataDir = makeDataDir();
    folders.push(dataDir);
    const first = await start({ dataDir });
    await expect(startHub({ dataDir })).rejects.toThrow(new RegExp(`${path.basename(dataDir)}|already`));
    expect((await fetch(`${first.httpUrl}/health/ready`)).status).toBe(200);
  });

  it.runIf(isRoot)('as root in a folder that only root may enter, keeps its cluster elsewhere and says so', async () => {
    const locked = mkdtempSync(path.join(tmpdir(), 'flotilla-locked-'));
    chmodSync(locked, 0o700);
    const dataDir = path.join(locked, 'data');
    folders.push(locked);
    const first = await start({ dataDir });
    expect(first.log()).toContain('/var/lib/flotilla/');
    expect(await stop(first)).toBe(0);
    const second = await start({ dataDir });
    expect(second.adminKey).toBe(first.adminKey);
    const cluster = /\/var\/lib\/flotilla\/[^\s"'`]+/.exec(first.log())?.[0] ?? '';
    await stop(second);
    if (cluster.startsWith('/var/lib/flotilla/')) rmSync(cluster.replace(/[.,]$/, ''), { recursive: true, force: true });
  });

  it.runIf(isRoot)('runs as an ordinary user', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'flotilla-user-'));
    const nobody = 65_534;
    chownSync(folder, nobody, nobody);
    folders.push(folder);
    const child = spawn(process.execPath, [hubMain], {
      uid: nobody,
      gid: nobody,
      env: {
        PATH: process.env['PATH'],
        HOME: folder,
        FLOTILLA_DATA_DIR: path.join(folder, 'data'),
        FLOTILLA_HTTP_PORT: '0',
        FLOTILLA_MQTT_PORT: '0',
        FLOTILLA_UDP_PORT: '0',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (out += chunk.toString()));
    const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
    await eventually(
      () => out,
      (text) => text.includes('"ready":true') || child.exitCode !== null,
    );
    expect(out).toContain('"ready":true');
    child.kill('SIGINT');
    expect(await exited).toBe(0);
    expect(processesOf(folder)).toEqual([]);
  });

  it('names every setting that makes no sense, and starts nothing', () => {
    const dataDir = path.join(makeDataDir(), 'never');
    folders.push(path.dirname(dataDir));
    const { status, stderr } = spawnSync(process.execPath, [hubMain], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], FLOTILLA_DATA_DIR: dataDir, FLOTILLA_HTTP_PORT: 'eighty', FLOTILLA_DEVICE_AUTH: 'maybe' },
    });
    expect(status).toBe(2);
    expect(stderr).toContain('FLOTILLA_HTTP_PORT must be a port number');
    expect(stderr).toContain('FLOTILLA_DEVICE_AUTH must be credentials, hmac or open');
    expect(existsSync(dataDir)).toBe(false);
  });

  it.each([
    { situation: 'a flag that it does not know', args: ['--dmeo'], env: {}, says: 'not --dmeo' },
    {
      situation: 'a PostgreSQL that is not there',
      args: [],
      env: { DATABASE_URL: 'postgres://flotilla:secret@localhost:1/flotilla' },
      says: 'PostgreSQL at localhost:1/flotilla does not let the hub in: connect ECONNREFUSED',
    },
    { situation: 'a data folder that is a file', args: [], env: { FLOTILLA_DATA_DIR: hubMain }, says: 'Make it a folder' },
  ])('ends with one paragraph about $situation', ({ args, env, says }) => {
    const dataDir = makeDataDir();
    folders.push(dataDir);
    const { status, stdout, stderr } = spawnSync(process.execPath, [hubMain, ...args], {
      encoding: 'utf8',
      cwd: dataDir,
      env: { PATH: process.env['PATH'], FLOTILLA_DATA_DIR: path.join(dataDir, 'data'), ...env },
    });
    expect(status).toBeGreaterThan(0);
    expect(stdout).toBe('');
    expect(stderr).toContain(says);
    expect(stderr).not.toContain('secret');
    expect(stderr).not.toMatch(/\n {4}at /);
  });

  it('says which port is taken', async () => {
    const dataDir = makeDataDir();
    const other = makeDataDir();
    folders.push(dataDir, other);
    const hub = await start({ dataDir });
    await expect(startHub({ dataDir: other, env: { FLOTILLA_HTTP_PORT: String(hub.httpPort) } })).rejects.toThrow(
      new RegExp(`${hub.httpPort}`),
    );
    expect(processesOf(other)).toEqual([]);
    expect(readFileSync(path.join(dataDir, 'admin.key'), 'utf8').trim()).toBe(hub.adminKey);
  });
});
