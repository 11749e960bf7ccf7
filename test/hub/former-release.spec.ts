/**
 * Data of a hub of version 0.1.0, in a hub of this version. That hub made it: two simulated devices
 * with names and tags, a group, a webhook and a job. 0.1.0 had no backups, so a later hub made one
 * of its data folder.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../src/api/graphql-client.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { eventually } from '../src/eventually.js';
import { makeDataDir, removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';

const fixture = fileURLToPath(new URL('../src/hub/former-release/0.1.0.tar.gz', import.meta.url));
const program = (name: string) => fileURLToPath(new URL(`../../apps/hub/dist/program/${name}`, import.meta.url));
/** Decides the ids of simulated devices; this one was given to those of the former hub. */
const FORMER_SEED = 7;
const VOLUME = 'self.audio_speaker.set_volume';

let dataDir: string;
let hub: HubProcess;
let fleet: SimulatedFleet | undefined;
beforeAll(() => {
  dataDir = makeDataDir();
});
afterAll(async () => {
  await fleet?.stop();
  expect(await hub.stop()).toBe(0);
  removeDataDir(dataDir);
});

function run(name: string, ...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program(name), ...args], {
    env: { PATH: process.env['PATH'], FLOTILLA_DATA_DIR: dataDir },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

describe('the data of a hub of version 0.1.0', () => {
  it('is restored, and has the tables of this version then', () => {
    const restored = run('restore.js', fixture);
    expect([restored.status, restored.stderr]).toEqual([0, expect.stringContaining('Restored the backup')]);
    expect(JSON.parse(restored.stdout)).toMatchObject({
      hubVersion: '0.1.0',
      rows: { audit_entry: 9, device: 2, device_group: 1, event: 9, job: 1, job_target: 2, session: 2, tool: 23 },
    });
    const check = run('upgrade.js', '--check', '--json');
    expect(check.status, check.stderr).toBe(0);
    expect(JSON.parse(check.stdout)).toMatchObject({ isInstalled: true, pending: [], unknown: [] });
  }, 240_000);

  it('is all there in a hub of this version, with its administrator key', async () => {
    hub = await startHub({ embedded: true, dataDir });
    const found = await ask<object>(
      hub,
      `{ devices(orderBy: NAME_ASC) { nodes { name tags presence tools { name } } }
         deviceGroups { nodes { name deviceCount timeZone } } webhooks { url types enabled }
         jobs { nodes { name state conclusion progress { total succeeded } targets { nodes { outcome } } } } }`,
    );
    expect(found).toEqual({
      devices: {
        nodes: ['Lobby 1', 'Lobby 10'].map((name) => ({
          name,
          tags: ['lobby'],
          presence: 'OFFLINE',
          tools: expect.arrayContaining([{ name: VOLUME }]),
        })),
      },
      deviceGroups: { nodes: [{ name: 'Lobby', deviceCount: 2, timeZone: 'Europe/Berlin' }] },
      webhooks: [{ url: 'https://hooks.example.com/a', types: ['job.*'], enabled: false }],
      jobs: {
        nodes: [
          {
            name: 'Quiet',
            state: 'FINISHED',
            conclusion: 'SUCCEEDED',
            progress: { total: 2, succeeded: 2 },
            targets: { nodes: [{ outcome: 'SUCCEEDED' }, { outcome: 'SUCCEEDED' }] },
          },
        ],
      },
    });
    expect(run('audit-verify.js').status).toBe(0);
  }, 240_000);

  it('goes on: its devices come back with their secret, and are called', async () => {
    fleet = startFleet(hub, { devices: 2, seed: FORMER_SEED });
    const names = () =>
      ask<{ devices: { nodes: readonly { id: string; name: string }[] } }>(
        hub,
        '{ devices(filter: {presence: ONLINE}) { nodes { id name } } }',
      ).then(({ devices }) => devices.nodes);
    const [device] = await eventually(names, (online) => online.length === 2);
    const { callTool } = await ask<{ callTool: object }>(
      hub,
      'mutation ($input: CallToolInput!) { callTool(input: $input) { call { outcome } } }',
      { input: { deviceId: device?.id, tool: VOLUME, arguments: { volume: 33 } } },
    );
    expect(callTool).toEqual({ call: { outcome: 'SUCCEEDED' } });
    expect(run('upgrade.js', '--check').stdout).toContain('has the schema of this version');
  }, 240_000);
});
