/** From the two npm packages to a call, as an ordinary user in an empty folder. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import {
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../src/eventually.js';

const packaging = fileURLToPath(new URL('../../scripts/package.mjs', import.meta.url));
const recorder = fileURLToPath(new URL('../src/hub/record-connections.mjs', import.meta.url));
/** The id of an ordinary user without files, for tests that run as root. */
const USER = 65_534;
const isRoot = process.getuid?.() === 0;
/** Packages that programs import as such. */
const unbundled = ['@node-rs/argon2', 'sharp'];
const TOOL = 'self.audio_speaker.set_volume';
/** Measured only by `npm run test:long`, which runs nothing else at the same time. */
const INSTALLS_WITHIN_SECONDS = 30;

interface Ports {
  readonly http: number;
  readonly mqtt: number;
  readonly udp: number;
}

let folder: string;
let home: string;
let hub: ChildProcess | undefined;
let ports: Ports;

/** No settings of a hub, and of npm only those by which it reaches a registry. */
function environment(): NodeJS.ProcessEnv {
  const reaching = /^npm_config_(?:registry|cafile|strict_ssl|(?:https?_)?proxy)$/i;
  const isOther = (name: string) => /^(?:FLOTILLA_|DATABASE_URL$|REDIS_URL$|npm_)/i.test(name) && !reaching.test(name);
  const kept = Object.entries(process.env).filter(([name]) => !isOther(name));
  return { ...Object.fromEntries(kept), HOME: home, npm_config_update_notifier: 'false' };
}

function asUser(command: string, args: readonly string[]): [string, readonly string[]] {
  const ids = [`--reuid=${USER}`, `--regid=${USER}`, '--clear-groups', '--'];
  return isRoot ? ['setpriv', [...ids, command, ...args]] : [command, args];
}

function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}, input = '') {
  const [program, words] = asUser(command, args);
  return spawnSync(program, words, { cwd: home, env: { ...environment(), ...env }, encoding: 'utf8', input });
}

const installed = (name: string) => path.join(folder, 'prefix', 'bin', name);
/** For programs of the packages: they note where they connect to. */
const recording = () => ({
  NODE_OPTIONS: `--import=${pathToFileURL(path.join(home, 'record-connections.mjs')).href}`,
  RECORDED_CONNECTIONS: path.join(home, 'connections.txt'),
});
const hubSettings = () => ({
  ...recording(),
  FLOTILLA_HTTP_PORT: String(ports.http),
  FLOTILLA_MQTT_PORT: String(ports.mqtt),
  FLOTILLA_UDP_PORT: String(ports.udp),
});

function flotilla(...args: readonly string[]) {
  const env = {
    ...recording(),
    FLOTILLA_URL: `http://127.0.0.1:${ports.http}`,
    FLOTILLA_KEY: readFileSync(path.join(home, '.flotilla/admin.key'), 'utf8').trim(),
  };
  const { status, stdout, stderr } = run(installed('flotilla'), [...args, '--json'], env);
  return {
    status,
    stderr,
    rows: stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as never])),
  };
}

async function startHub(): Promise<Ports> {
  const [program, words] = asUser(installed('flotilla-hub'), ['--demo']);
  const free = { ...recording(), FLOTILLA_HTTP_PORT: '0', FLOTILLA_MQTT_PORT: '0', FLOTILLA_UDP_PORT: '0' };
  hub = spawn(program, words, { cwd: home, env: { ...environment(), ...free }, stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  hub.stderr?.setEncoding('utf8').on('data', (text: string) => (log += text));
  return new Promise((resolve, reject) => {
    hub?.once('exit', (code) => reject(new Error(`The hub ended with exit code ${code}:\n${log}`)));
    createInterface({ input: hub?.stdout ?? process.stdin }).on('line', (line) => {
      if (line.startsWith('{"ready"')) resolve(JSON.parse(line) as Ports);
    });
  });
}

describe('the npm packages', () => {
  let tookSeconds: number;
  let problem: string | undefined;
  beforeAll(async () => {
    if (isRoot && spawnSync('setpriv', ['--version']).status !== 0) {
      problem = 'The tests run as root, and setpriv, which starts the hub as another user, is not installed.';
      return;
    }
    folder = mkdtempSync(path.join(tmpdir(), 'flotilla-package-'));
    home = path.join(folder, 'home');
    mkdirSync(home);
    copyFileSync(recorder, path.join(home, 'record-connections.mjs'));
    const { packAll } = (await import(pathToFileURL(packaging).href)) as {
      readonly packAll: (folder: string) => readonly { readonly file: string }[];
    };
    const packed = packAll(path.join(folder, 'packed')).map(({ file }) => {
      const copy = path.join(home, path.basename(file));
      copyFileSync(file, copy);
      return copy;
    });
    if (isRoot) for (const owned of [folder, home, ...packed]) chownSync(owned, USER, USER);
    const startedAt = performance.now();
    const args = ['install', '--global', '--prefix', path.join(folder, 'prefix'), '--no-fund', '--no-audit'];
    const { status, stderr } = run('npm', [...args, ...packed]);
    tookSeconds = (performance.now() - startedAt) / 1_000;
    if (status !== 0 && /ENOTFOUND|ECONNREFUSED|EAI_AGAIN|ETIMEDOUT|SELF_SIGNED_CERT/.test(stderr))
      problem = 'npm reaches no registry for the parts of this platform.';
    else expect(status, stderr).toBe(0);
    if (problem !== undefined && process.env['FLOTILLA_TEST_REQUIRE'] === 'all') throw new Error(problem);
    if (problem === undefined) ports = await startHub();
  }, 600_000);
  afterAll(async () => {
    if (hub !== undefined && hub.exitCode === null) {
      const ended = new Promise((resolve) => hub?.once('exit', resolve));
      hub.kill('SIGINT');
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  });

  it('install without a compiler, run as an ordinary user, and call a device over MQTT', async (context) => {
    if (problem !== undefined) context.skip(problem);
    process.stderr.write(`The packages were installed in ${tookSeconds.toFixed(1)} s.\n`);
    if (process.env['FLOTILLA_TEST_LONG'] === '1') expect(tookSeconds).toBeLessThan(INSTALLS_WITHIN_SECONDS);
    const list = () => flotilla('devices', '--online').rows as readonly { id: string; transport: string }[];
    const devices = await eventually(list, (rows) => rows.some(({ transport }) => transport === 'MQTT'));
    const { id = '' } = devices.find(({ transport }) => transport === 'MQTT') ?? {};
    const called = flotilla('call', id, TOOL, 'volume=30');
    expect([called.status, called.rows]).toEqual([0, [expect.objectContaining({ outcome: 'SUCCEEDED' })]]);
  });

  it('have all libraries that they load on demand', (context) => {
    if (problem !== undefined) context.skip(problem);
    const program = path.join(folder, 'prefix/lib/node_modules/flotilla-hub/program/apps/hub/dist/program');
    // The files of programs have names without a hash.
    const parts = readdirSync(program).filter((file) => /-[A-Z0-9]{8}\.js$/.test(file));
    expect(parts.length).toBeGreaterThan(10);
    const urls = parts.map((file) => pathToFileURL(path.join(program, file)).href);
    const imports = `for (const url of ${JSON.stringify(urls)}) await import(url);`;
    const packages = unbundled.map((name) => `await import('${name}');`);
    const file = path.join(program, 'of-this-test.mjs');
    writeFileSync(file, [imports, ...packages].join('\n'));
    const { status, stderr } = run(process.execPath, [file]);
    expect(status, stderr).toBe(0);
  });

  it('bring the commands of an operator', (context) => {
    if (problem !== undefined) context.skip(problem);
    expect(run(installed('flotilla-hub'), ['--help']).stdout).toContain('doctor');
    const check = run(installed('flotilla-hub'), ['upgrade', '--check'], hubSettings());
    expect([check.stdout, check.status]).toEqual([expect.stringContaining('has the schema of this version'), 0]);
    const doctor = run(installed('flotilla-hub'), ['doctor', '--json'], hubSettings());
    const { ok, findings } = JSON.parse(doctor.stdout) as {
      readonly ok: boolean;
      readonly findings: readonly { readonly check: string; readonly status: string; readonly found: string }[];
    };
    expect(findings.filter(({ status }) => status === 'problem')).toEqual([]);
    expect([ok, doctor.status]).toEqual([true, 0]);
    expect(findings).toContainEqual(expect.objectContaining({ check: 'OTA address', status: 'ok' }));
    const backup = run(installed('flotilla-hub'), ['backup', path.join(home, 'hub.tar.gz')], hubSettings());
    expect([backup.stderr, backup.status]).toEqual([expect.stringContaining('The backup is in'), 0]);
    const cut = run('sh', ['-c', `"${installed('flotilla-hub')}" install | head -1`]);
    expect([cut.stdout, cut.stderr]).toEqual([
      expect.stringMatching(/^user .*\n$/),
      expect.not.stringContaining('EPIPE'),
    ]);
    const wrong = run(installed('flotilla-hub'), ['begin']);
    expect([wrong.status, wrong.stderr]).toEqual([2, 'There is no command begin. Run flotilla-hub --help.\n']);
  });

  it('connect to nothing outside this machine', (context) => {
    if (problem !== undefined) context.skip(problem);
    const targets = readFileSync(path.join(home, 'connections.txt'), 'utf8').trim().split('\n');
    expect(targets).toContain('127.0.0.1');
    expect(targets.filter((target) => !/^(?:127\.|localhost$|::1$|\/)/.test(target))).toEqual([]);
  });
});
