/** Login, profiles and logout of the command line, against the built hub. */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { flotilla, jsonLines } from '../src/api/command-line.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';

let hub: HubProcess;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'flotilla-login-'));
  hub = await startHub();
});

afterAll(async () => {
  expect(await hub.stop()).toBe(0);
  removeDataDir(hub.dataDir);
  rmSync(folder, { recursive: true });
});

/** Runs a command without a hub in the environment. */
const run = (args: readonly string[], input = '') => {
  const env = {
    FLOTILLA_URL: undefined,
    FLOTILLA_KEY: undefined,
    FLOTILLA_PROFILE: undefined,
    XDG_CONFIG_HOME: folder,
  };
  return flotilla(hub, args, { input, env });
};

describe('a login', () => {
  it('checks the key, stores it for later commands, and can be undone', async () => {
    const wrong = await run(['login', hub.httpUrl, '--with-key'], 'wrong\n');
    expect([wrong.code, wrong.stderr]).toEqual([5, expect.stringContaining('UNAUTHENTICATED')]);
    expect((await run(['devices'])).stderr).toContain('flotilla login');
    expect(await run(['login', hub.httpUrl])).toMatchObject({ code: 1, stderr: expect.stringContaining('--with-key') });

    const done = await run(['login', hub.httpUrl, '--profile', 'shop', '--with-key', '--json'], `${hub.adminKey}\n`);
    expect([done.code, jsonLines(done)]).toMatchObject([0, [{ profile: 'shop', url: hub.httpUrl, kind: 'KEY' }]]);
    expect(done.stdout + done.stderr).not.toContain(hub.adminKey);
    const file = path.join(folder, 'flotilla', 'profiles.json');
    expect([statSync(file).mode & 0o777, readFileSync(file, 'utf8').includes(hub.adminKey)]).toEqual([0o600, true]);

    expect(await run(['devices'])).toMatchObject({ code: 0, stderr: 'Nothing found.\n' });
    expect((await run(['whoami', '--profile', 'shop'])).stdout).toMatch(/scopes +DEVICES_READ\n[^]*ADMIN\n/);
    expect((await run(['profiles'])).stdout).toMatch(/shop +http:\S+ +yes/);
    expect((await run(['profiles', 'use', 'lab'])).code).toBe(1);
    expect(await run(['logout'])).toMatchObject({ code: 0, stderr: expect.stringContaining('keys revoke') });
    expect(await run(['devices'])).toMatchObject({ code: 5, stderr: expect.stringContaining('No API key') });
  });
});
