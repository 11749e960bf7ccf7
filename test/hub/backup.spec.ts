/**
 * A backup of a hub under load, restored into an empty one: its devices return with their
 * credentials, its job continues, and its audit trail is intact.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool } from '../src/devices/device-api.js';
import { createEnrolmentLink } from '../src/devices/provisioning-api.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { eventually } from '../src/eventually.js';
import { ask } from '../src/api/graphql-client.js';
import { makeDataDir, removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { makeImage, publishedImage } from '../src/jobs/firmware-image.js';
import { finished, jobOf, online, readJob, steerJob, sumOf } from '../src/jobs/job-api.js';

const DEVICES = 20;
const TOOL = 'self.audio_speaker.set_volume';
const programs = fileURLToPath(new URL('../../apps/hub/dist/program/', import.meta.url));

interface Ran {
  readonly code: number;
  readonly summary: {
    readonly rows: Readonly<Record<string, number>>;
    readonly files: number;
    readonly kind: string;
    readonly createdAt: string;
  };
  readonly error: string;
}

function run(program: string, dataDir: string, args: readonly string[]): Promise<Ran> {
  const env = { PATH: process.env['PATH'], FLOTILLA_DATA_DIR: dataDir };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [path.join(programs, program), ...args], { env }, (_, out, error) =>
      resolve({ code: child.exitCode ?? -1, summary: JSON.parse(out === '' ? '{}' : out) as Ran['summary'], error }),
    );
  });
}

const totals = (hub: HubProcess) =>
  ask<Record<string, unknown>>(
    hub,
    `{ devices { totalCount nodes { id name tags tools { name } } } firmwareImages { nodes { id sha256 } }
       users { email role } apiKeys { name scopes } }`,
  );

describe('a backup of a hub under load', () => {
  const folders = [makeDataDir(), makeDataDir(), makeDataDir()] as const;
  const [dataDir, restoredDir, backups] = folders;
  const file = path.join(backups, 'flotilla.tar.gz');
  let hub: HubProcess;
  let fleet: SimulatedFleet;

  beforeAll(async () => {
    hub = await startHub({ embedded: true, dataDir, env: { FLOTILLA_DEVICE_AUTH: '' } });
    const ota = await createEnrolmentLink(hub, { maxDevices: DEVICES, tags: ['shop'] });
    fleet = startFleet(hub, { devices: DEVICES, profile: 'lamp', ota, args: ['--speed', '30'] });
    await online(hub, DEVICES);
  });
  afterAll(async () => {
    await fleet.stop();
    await hub.stop();
    folders.forEach(removeDataDir);
  });

  it('is restored into an empty hub, with all that it had', async () => {
    const image = await publishedImage(hub, makeImage(), ['esp-box']);
    const quiet = await jobOf(hub, { tool: TOOL, arguments: { volume: 10 }, devices: { all: true } }, 'before');
    await finished(hub, quiet);
    const slow = { tool: TOOL, arguments: { volume: 20 }, devices: { all: true }, perMinute: 6, maxInFlight: 1 };
    const running = await jobOf(hub, slow, 'during');
    await eventually(
      () => readJob(hub, running),
      (job) => job.state === 'RUNNING' && job.progress.succeeded > 0,
    );
    const before = await totals(hub);
    const [first] = (before['devices'] as { nodes: { id: string }[] }).nodes;
    const deviceId = first?.id ?? '';

    let isOver = false;
    /** When the hub had accepted each job. */
    const accepted = new Map<string, number>();
    const load = (async () => {
      for (let volume = 0; !isOver; volume = (volume + 1) % 100) {
        await callTool(hub, { deviceId, tool: TOOL, arguments: { volume } });
        const request = { tool: TOOL, arguments: { volume }, devices: { ids: [deviceId] } };
        accepted.set(await jobOf(hub, request, `load-${accepted.size}`), Date.now());
      }
    })();
    await eventually(
      () => accepted.size,
      (count) => count > 2,
    );
    const made = await run('backup.js', dataDir, [file]);
    isOver = true;
    await load;
    expect(made.error).toContain(`The backup is in ${file}.`);
    expect(made.code).toBe(0);
    expect(made.summary.rows).toMatchObject({ device: DEVICES, device_credential: DEVICES, firmware_image: 1 });
    const { httpPort, mqttPort } = hub;
    expect(await hub.stop()).toBe(0);

    const restored = await run('restore.js', restoredDir, [file]);
    expect(restored.error).toMatch(/Paused jobs: \d+\./);
    expect(restored.code).toBe(0);
    expect(restored.summary).toMatchObject({ rows: made.summary.rows, files: made.summary.files });
    const stored = (folder: string) => readFileSync(path.join(folder, 'files', 'firmware', image));
    expect(stored(restoredDir).equals(stored(dataDir))).toBe(true);

    // At the addresses that the devices know.
    const ports = { FLOTILLA_HTTP_PORT: String(httpPort), FLOTILLA_MQTT_PORT: String(mqttPort) };
    hub = await startHub({ embedded: true, dataDir: restoredDir, env: { FLOTILLA_DEVICE_AUTH: '', ...ports } });
    await online(hub, DEVICES);
    expect(await totals(hub)).toEqual(before);
    expect(await callTool(hub, { deviceId, tool: TOOL, arguments: { volume: 30 } })).toMatchObject({
      outcome: 'SUCCEEDED',
    });
    const isDue = (acceptedAt: number) => acceptedAt < Date.parse(made.summary.createdAt);
    const due = [...accepted].filter(([, acceptedAt]) => isDue(acceptedAt)).map(([id]) => id);
    expect(due.length).toBeGreaterThan(2);
    for (const id of [...due, quiet]) expect(await readJob(hub, id)).toMatchObject({ id });
    const paused = await readJob(hub, running);
    expect(paused).toMatchObject({ state: 'PAUSED', progress: { total: DEVICES } });
    await steerJob(hub, 'resumeJob', running);
    await eventually(
      () => readJob(hub, running),
      ({ progress }) => progress.succeeded > paused.progress.succeeded,
    );
    await steerJob(hub, 'cancelJob', running);
    const ended = await finished(hub, running);
    expect(sumOf(ended)).toBe(DEVICES);
    expect(await run('audit-verify.js', restoredDir, [])).toMatchObject({ code: 0, summary: { kind: 'intact' } });
  });

  it('is not restored into a hub that runs or has data, and nothing changes there', async () => {
    const before = await totals(hub);
    const busy = await run('restore.js', restoredDir, [file]);
    expect([busy.code, busy.error]).toEqual([1, expect.stringContaining('is in use by the hub with process id')]);
    expect(await totals(hub)).toEqual(before);
    const full = await run('restore.js', dataDir, [file]);
    expect([full.code, full.error]).toEqual([1, expect.stringContaining('already has data of a hub')]);
  });
});
