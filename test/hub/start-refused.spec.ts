/**
 * Mistakes of an operator, from the outside: each ends in one paragraph that says what to do,
 * starts nothing and leaves what runs unharmed.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { makeDataDir, removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { processesOf } from '../src/hub/processes.js';
import { openTestDatabase, type TestDatabase } from '../src/hub/test-database.js';

const hubMain = fileURLToPath(new URL('../../apps/hub/dist/program/main.js', import.meta.url));

/**
 * A hub that is not refused runs on: it is ended then, so that the story fails instead of waiting,
 * ms.
 */
const REFUSED_WITHIN_MS = 45_000;

/** One second, and what a busy machine needs; a timer of the migrations would take ten, ms. */
const ENDS_WITHIN_MS = 5_000;

const folders: string[] = [];
afterEach(() => {
  folders.splice(0).forEach(removeDataDir);
});

describe('a hub that cannot be started', () => {
  it('names every setting that makes no sense, and starts nothing', () => {
    const dataDir = path.join(makeDataDir(), 'never');
    folders.push(path.dirname(dataDir));
    const { status, stderr } = spawnSync(process.execPath, [hubMain], {
      encoding: 'utf8',
      env: {
        PATH: process.env['PATH'],
        FLOTILLA_DATA_DIR: dataDir,
        FLOTILLA_HTTP_PORT: 'eighty',
        FLOTILLA_DEVICE_AUTH: 'maybe',
      },
    });
    expect(status).toBe(2);
    expect(stderr).toContain('FLOTILLA_HTTP_PORT must be a port number');
    expect(stderr).toContain('FLOTILLA_DEVICE_AUTH must be credentials, hmac or open');
    expect(existsSync(dataDir)).toBe(false);
  });

  it.each([
    { situation: 'a flag that it does not know', args: ['--dmeo'], env: {}, says: 'Unknown flag --dmeo' },
    {
      situation: 'a PostgreSQL that is not there',
      args: [],
      env: { DATABASE_URL: 'postgres://flotilla:secret@localhost:1/flotilla' },
      says: 'Cannot connect to PostgreSQL at localhost:1/flotilla: connect ECONNREFUSED',
    },
    {
      situation: 'a certificate file of Redis that does not exist',
      args: [],
      env: {
        DATABASE_URL: 'postgres://localhost/x',
        REDIS_URL: 'rediss://:secret@localhost:1',
        FLOTILLA_REDIS_CA: '/nowhere/ca.pem',
      },
      says: 'FLOTILLA_REDIS_CA cannot be read: ENOENT',
    },
    {
      situation: 'an authority for a Redis without TLS',
      args: [],
      env: {
        DATABASE_URL: 'postgres://localhost/x',
        REDIS_URL: 'redis://:secret@localhost:1',
        FLOTILLA_REDIS_CA: hubMain,
      },
      says: 'REDIS_URL that begins with rediss://',
    },
    {
      situation: 'a data folder that is a file',
      args: [],
      env: { FLOTILLA_DATA_DIR: hubMain },
      says: 'to another folder',
    },
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
});

describe('a first start on a database elsewhere', () => {
  const secrets = {
    FLOTILLA_ADMIN_KEY: 'a-key-of-the-story-long-enough-for-it',
    FLOTILLA_ADMIN_PASSWORD: 'correct horse battery',
  };
  const ports = { FLOTILLA_HTTP_PORT: '0', FLOTILLA_MQTT_PORT: '0', FLOTILLA_UDP_PORT: '0' };
  let database: TestDatabase;
  let folder: string;
  const startWith = (env: Readonly<Record<string, string>>) =>
    spawnSync(process.execPath, [hubMain], {
      encoding: 'utf8',
      cwd: folder,
      timeout: REFUSED_WITHIN_MS,
      env: { PATH: process.env['PATH'], DATABASE_URL: database.url, ...ports, ...env },
    });

  beforeAll(async () => {
    database = await openTestDatabase({ migrated: true });
    folder = makeDataDir();
  });
  afterAll(async () => {
    await database.close();
    removeDataDir(folder);
  });

  it.each([
    ['admin key', {}],
    ['password of admin@flotilla.local', { FLOTILLA_ADMIN_KEY: secrets.FLOTILLA_ADMIN_KEY }],
  ])('without a data folder makes no %s that would be lost, and says what to set', (what, env) => {
    for (let time = 1; time <= 2; time += 1) {
      const { status, stdout, stderr } = startWith(env);
      expect(status).toBe(1);
      expect(stdout).toBe('');
      expect(stderr).toContain(`This database has no ${what} yet`);
      expect(stderr).toContain('Set FLOTILLA_ADMIN_KEY and FLOTILLA_ADMIN_PASSWORD, or FLOTILLA_DATA_DIR');
    }
  });

  it('goes on with both, and prints neither', async () => {
    const dataDir = makeDataDir();
    folders.push(dataDir);
    const hub = await startHub({ dataDir, env: { DATABASE_URL: database.url, ...secrets } });
    const signIn = { method: 'POST', headers: { 'content-type': 'application/json' } };
    const body = JSON.stringify({ email: 'admin@flotilla.local', password: secrets.FLOTILLA_ADMIN_PASSWORD });
    expect((await fetch(`${hub.httpUrl}/api/sign-in`, { ...signIn, body })).status).toBe(200);
    expect(await hub.stop()).toBe(0);
    for (const secret of Object.values(secrets)) expect(hub.log()).not.toContain(secret);
    expect(existsSync(path.join(dataDir, 'admin.password'))).toBe(false);
  });
});

describe('a first start that fails after the migrations', () => {
  it('ends soon after it has said why', async () => {
    const database = await openTestDatabase();
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    folders.push(makeDataDir());
    const { port } = taken.address() as AddressInfo;
    const program = spawn(process.execPath, [hubMain], {
      env: {
        PATH: process.env['PATH'],
        DATABASE_URL: database.url,
        FLOTILLA_DATA_DIR: folders.at(-1),
        FLOTILLA_HTTP_PORT: String(port),
        FLOTILLA_MQTT_PORT: '0',
        FLOTILLA_UDP_PORT: '0',
      },
    });
    const ended = once(program, 'exit');
    let saidAt = 0;
    program.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (text.includes('cannot be opened')) saidAt = performance.now();
    });
    expect((await ended)[0]).toBe(1);
    expect(saidAt).toBeGreaterThan(0);
    expect(performance.now() - saidAt).toBeLessThan(ENDS_WITHIN_MS);
    taken.close();
    await database.close();
  });
});

describe('beside a running hub', () => {
  let hub: HubProcess;
  beforeAll(async () => {
    hub = await startHub({ embedded: true });
  });
  afterAll(async () => {
    await hub.stop();
    removeDataDir(hub.dataDir);
  });
  afterEach(async () => {
    expect((await fetch(`${hub.httpUrl}/health/ready`)).status).toBe(200);
    expect(readFileSync(path.join(hub.dataDir, 'admin.key'), 'utf8').trim()).toBe(hub.adminKey);
  });

  it('a second one on its data folder is refused', async () => {
    const again = startHub({ dataDir: hub.dataDir, embedded: true });
    await expect(again).rejects.toThrow(new RegExp(`${path.basename(hub.dataDir)}|already`));
  });

  it('names the port that another program uses', async () => {
    const dataDir = makeDataDir();
    folders.push(dataDir);
    const other = startHub({ dataDir, embedded: true, env: { FLOTILLA_HTTP_PORT: String(hub.httpPort) } });
    await expect(other).rejects.toThrow(new RegExp(`${hub.httpPort}`));
    expect(processesOf(dataDir)).toEqual([]);
  });
});
