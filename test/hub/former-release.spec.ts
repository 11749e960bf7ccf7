/**
 * Data with the tables of the first migration in a hub of this version. No release has been made
 * yet: rows were written with SQL, and a hub between 0.1.0 and the next version made the backup.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../src/api/graphql-client.js';
import { makeDataDir, removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';

const fixture = fileURLToPath(new URL('../src/hub/former-release/first-migration.tar.gz', import.meta.url));
const program = (name: string) => fileURLToPath(new URL(`../../apps/hub/dist/program/${name}`, import.meta.url));

let dataDir: string;
let hub: HubProcess | undefined;
beforeAll(() => {
  dataDir = makeDataDir();
});
afterAll(async () => {
  if (hub !== undefined) expect(await hub.stop()).toBe(0);
  removeDataDir(dataDir);
});

function run(name: string, ...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program(name), ...args], {
    env: { PATH: process.env['PATH'], FLOTILLA_DATA_DIR: dataDir },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

describe('data with the tables of the first migration', () => {
  it('is restored, and has the tables of this version then', () => {
    const restored = run('restore.js', fixture);
    expect([restored.status, restored.stderr]).toEqual([0, expect.stringContaining('Restored the backup')]);
    expect(JSON.parse(restored.stdout)).toMatchObject({
      hubVersion: '0.1.0',
      rows: { device: 3, device_group: 1, job: 1 },
    });
    const check = run('upgrade.js', '--check', '--json');
    expect(check.status, check.stderr).toBe(0);
    expect(JSON.parse(check.stdout)).toMatchObject({ isInstalled: true, pending: [], unknown: [] });
  }, 240_000);

  it('opens with this version, and goes on', async () => {
    hub = await startHub({
      embedded: true,
      dataDir,
      env: { FLOTILLA_ADMIN_KEY: 'the-admin-key-of-the-new-version-0123' },
    });
    const found = await ask<{
      readonly devices: { readonly nodes: readonly { readonly id: string; readonly name: string | null }[] };
      readonly deviceGroups: { readonly nodes: readonly object[] };
      readonly jobs: { readonly nodes: readonly object[] };
      readonly webhooks: readonly object[];
    }>(
      hub,
      `{ devices(orderBy: NAME_ASC) { nodes { id name tags } } deviceGroups { nodes { name deviceCount timeZone } }
         jobs { nodes { name state conclusion } } webhooks { url types } }`,
    );
    // This version orders numbers in names as numbers.
    expect(found.devices.nodes.map(({ name }) => name)).toEqual(['Lobby 1', 'Lobby 10', null]);
    expect(found.deviceGroups.nodes).toEqual([{ name: 'Lobby', deviceCount: 2, timeZone: 'Europe/Berlin' }]);
    expect(found.jobs.nodes).toEqual([{ name: 'Quiet', state: 'FINISHED', conclusion: 'SUCCEEDED' }]);
    expect(found.webhooks).toEqual([{ url: 'https://hooks.example.com/a', types: ['job.*'] }]);
    const { tagDevices } = await ask<{ tagDevices: { changedCount: number } }>(
      hub,
      'mutation { tagDevices(input: {filter: {tags: ["lobby"]}, add: ["moved"]}) { changedCount } }',
    );
    expect(tagDevices.changedCount).toBe(2);
    expect(run('upgrade.js', '--check').stdout).toContain('has the schema of this version');
    expect(run('audit-verify.js').status).toBe(0);
  }, 240_000);
});
