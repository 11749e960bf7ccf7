/**
 * The embedded default from the outside: it starts in any folder and as any user, stops without
 * leaving a process behind, and finds its data again.
 */
import { spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../src/eventually.js';
import { ask } from '../src/api/graphql-client.js';
import { makeDataDir, removeDataDir, startHub, type HubOptions, type HubProcess } from '../src/hub/hub-process.js';
import { processesOf } from '../src/hub/processes.js';
import { makeImage, uploadImage } from '../src/jobs/firmware-image.js';
import { online } from '../src/jobs/job-api.js';

const isRoot = process.getuid?.() === 0;
if (!isRoot) process.stderr.write('Skipping the starts as root and as another user: only root can set them up.\n');
const hubMain = fileURLToPath(new URL('../../apps/hub/dist/program/main.js', import.meta.url));

const modeOf = (file: string) => statSync(file).mode & 0o777;

/** PostgreSQL's own folder belongs to its user, and PostgreSQL starts with no other mode. */
const filesOpenToOthers = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => (modeOf(path.join(folder, name)) & 0o077) !== 0,
  );

async function publishedImages(hub: HubProcess) {
  const { firmwareImages } = await ask<{
    firmwareImages: { nodes: { version: string; models: string[]; publishedAt: string | null }[] };
  }>(hub, '{ firmwareImages(first: 5) { nodes { version models publishedAt } } }');
  return firmwareImages.nodes
    .filter(({ publishedAt }) => publishedAt !== null)
    .map(({ version, models }) => ({ version, models }));
}

describe('the hub’s life', () => {
  const folders: string[] = [];
  const running = new Set<HubProcess>();

  const start = async (options: HubOptions) => {
    const hub = await startHub({ ...options, embedded: true });
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

  it('answers the README’s first query, stops on signals, and finds its data and key at a second start', async () => {
    const dataDir = makeDataDir();
    folders.push(dataDir);
    const first = await start({ dataDir, args: ['--demo'], env: { FLOTILLA_LOG_LEVEL: 'warn' } });
    await online(first, 43);
    const { devices: some } = await ask<{
      devices: { nodes: { id: string; model: string; presence: string; tools: { name: string }[] }[] };
    }>(first, '{ devices(first: 5) { nodes { id model presence tools { name } } } }');
    expect(some.nodes).toHaveLength(5);
    for (const device of some.nodes) {
      expect(device.model).toBeTruthy();
      expect(device.presence).toBe('ONLINE');
      expect(device.tools.length).toBeGreaterThan(3);
    }
    expect(
      await eventually(
        () => publishedImages(first),
        ({ length }) => length === 2,
      ),
    ).toEqual([
      { version: '2.4.2', models: ['otto-robot'] },
      { version: '2.3.1', models: ['otto-robot'] },
    ]);
    const keyFile = path.join(dataDir, 'admin.key');
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    expect(first.log()).toContain(keyFile);
    for (const secret of [first.adminKey, readFileSync(path.join(dataDir, 'admin.password'), 'utf8').trim()])
      expect(first.log()).not.toContain(secret);
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

  it('keeps files private, and corrects the mode of an older data folder without losing data', async () => {
    const parent = makeDataDir();
    folders.push(parent);
    const dataDir = path.join(parent, 'data');
    // What root starts runs PostgreSQL as another user, whose group alone may pass through.
    const closed = isRoot ? 0o710 : 0o700;
    const first = await start({ dataDir });
    expect((await uploadImage(first, makeImage())).status).toBe(201);
    expect(modeOf(dataDir)).toBe(closed);
    expect(await stop(first)).toBe(0);
    expect(filesOpenToOthers(dataDir)).toEqual([]);

    chmodSync(dataDir, 0o755);
    const second = await start({ dataDir });
    expect(modeOf(dataDir)).toBe(closed);
    expect(second.log()).toMatch(new RegExp(`"from":"0755","to":"0${closed.toString(8)}".*the hub changed its mode`));
    expect(second.adminKey).toBe(first.adminKey);
    expect(
      (await fetch(`${second.httpUrl}/metrics`, { headers: { authorization: `Bearer ${first.adminKey}` } })).status,
    ).toBe(200);
    expect(await stop(second)).toBe(0);
  });

  it('adopts or restarts its PostgreSQL after a kill -9, and ends with it when it is not ready in time', async () => {
    const dataDir = makeDataDir();
    folders.push(dataDir);
    const first = await start({ dataDir });
    running.delete(first);
    await first.kill();
    const second = await start({ dataDir });
    expect(second.adminKey).toBe(first.adminKey);
    expect((await fetch(`${second.httpUrl}/health/ready`)).status).toBe(200);
    running.delete(second);
    await second.kill();
    expect(processesOf(dataDir)).not.toEqual([]);
    await expect(startHub({ dataDir, embedded: true, readyWithinMs: 1 })).rejects.toThrow(/not ready within 1 ms/);
    expect(processesOf(dataDir)).toEqual([]);
  });

  it.runIf(isRoot)(
    'as root in a folder that only root may enter, keeps its cluster elsewhere and says so',
    async () => {
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
      if (cluster.startsWith('/var/lib/flotilla/'))
        rmSync(cluster.replace(/[.,]$/, ''), { recursive: true, force: true });
    },
  );

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
    expect(modeOf(path.join(folder, 'data'))).toBe(0o700);
    child.kill('SIGINT');
    expect(await exited).toBe(0);
    expect(processesOf(folder)).toEqual([]);
  });
});
