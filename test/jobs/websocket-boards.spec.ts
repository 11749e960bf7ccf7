/**
 * Boards on WebSocket have no session while idle: only their own OTA requests prove restarts and
 * upgrades.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deviceThat, eventsOf, isOnline, viewDevice } from '../src/devices/device-api.js';
import { someUuid } from '../src/devices/device-credentials.js';
import { askOta } from '../src/devices/ota-client.js';
import { createEnrolmentLink, setTransport } from '../src/devices/provisioning-api.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { eventually } from '../src/eventually.js';
import { ask, subscriptions } from '../src/api/graphql-client.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { makeImage, publishedImage } from '../src/jobs/firmware-image.js';
import { finished, jobOf, online, readJob, targetsOf } from '../src/jobs/job-api.js';

const DEVICES = 6;
const MODEL = 'bread-compact-wifi';
const OLD = '2.4.2';
const NEW = '9.9.9';

describe('boards on WebSocket', () => {
  let hub: HubProcess;
  let fleet: SimulatedFleet;
  let boards: readonly string[];
  let firmwareImageId: string;

  beforeAll(async () => {
    const times = {
      FLOTILLA_VERIFY_REBOOT_SECONDS: '20',
      FLOTILLA_VERIFY_DEADLINE_SECONDS: '20',
      FLOTILLA_VERIFY_SOAK_SECONDS: '2',
    };
    hub = await startHub({ env: { ...times, FLOTILLA_VERIFY_OVERDUE_SECONDS: '10' } });
    const ota = await createEnrolmentLink(hub, { maxDevices: DEVICES });
    fleet = startFleet(hub, { devices: DEVICES, profile: 'lamp', seed: 41, ota, args: ['--speed', '20'] });
    await online(hub, DEVICES);
    boards = Array.from({ length: DEVICES }, (_, index) => `02:00:29:00:00:0${index}`);
    firmwareImageId = await publishedImage(hub, makeImage({ version: NEW }), [MODEL]);
    for (const board of boards) await setTransport(hub, board, 'WEBSOCKET');
    for (const board of boards) await boot(board);
    await online(hub, 0);
    // The boot that made them idle is not one of the story.
    for (const board of boards) await booted(board);
  });
  afterAll(async () => {
    await fleet.stop();
    await hub.stop();
    removeDataDir(hub.dataDir);
  });

  const board = (index: number): string => boards[index] ?? '';
  const boot = (device: string) => fleet.perform({ cmd: 'behaviour', device, behaviour: { kind: 'reboot' } });
  const talk = (device: string) => fleet.perform({ cmd: 'behaviour', device, behaviour: { kind: 'helloNow' } });
  const isIdle = async (device: string) =>
    (await viewDevice(hub, device))?.sessions.every(({ disconnectedAt }) => disconnectedAt !== null);

  async function lastSeenAt(id: string): Promise<string> {
    return (
      await ask<{ device: { lastSeenAt: string } }>(hub, 'query ($id: ID!) { device(id: $id) { lastSeenAt } }', { id })
    ).device.lastSeenAt;
  }

  /** Waits until the board has asked its OTA address behind the end of its last session. */
  async function booted(id: string): Promise<void> {
    const query = 'query ($id: ID!) { device(id: $id) { lastSeenAt sessions(first: 1) { disconnectedAt } } }';
    await eventually(
      () => ask<{ device: { lastSeenAt: string; sessions: { disconnectedAt: string | null }[] } }>(hub, query, { id }),
      ({ device }) => device.lastSeenAt > (device.sessions[0]?.disconnectedAt ?? '9'),
    );
  }

  async function targetOf(jobId: string, id: string) {
    const target = (await targetsOf(hub, jobId)).find(({ deviceId }) => deviceId === id);
    if (target === undefined) throw new Error(`${id} is no target.`);
    return target;
  }

  it('proves a restart by its boot, and stays idle', async () => {
    const id = board(0);
    const jobId = await jobOf(hub, { tool: 'self.reboot', devices: { ids: [id] } }, 'restart');
    await talk(id);
    expect(await finished(hub, jobId)).toMatchObject({ conclusion: 'SUCCEEDED' });
    expect(await targetOf(jobId, id)).toMatchObject({ outcome: 'SUCCEEDED', attempts: 1, error: null });
    expect(await isIdle(id)).toBe(true);
  });

  it('proves an upgrade that was offered at its boot, and refutes one that is rolled back in its soak', async () => {
    const [good, bad] = [board(1), board(2)];
    const fault = { kind: 'upgradeFault', how: 'rollBack', afterMs: 500 };
    await fleet.perform({ cmd: 'behaviour', device: bad, behaviour: fault });
    const client = subscriptions(hub);
    const seen: unknown[] = [];
    const changes = client.iterate<Record<string, unknown>>({
      query: `subscription { deviceChanged(filter: { ids: ["${good}"] }) { firmwareVersion } }`,
    });
    const reading = (async () => {
      for await (const { data } of changes) seen.push(data?.['deviceChanged']);
    })();
    const jobId = await jobOf(hub, { firmwareImageId, devices: { ids: [good, bad] }, abort: [] }, 'offered');
    await eventually(
      () => readJob(hub, jobId),
      ({ progress }) => progress.waitingDevice === 2,
    );
    const before = await lastSeenAt(good);
    await boot(good);
    await boot(bad);
    // The registry follows the OTA request, long before there is a session.
    await deviceThat(hub, good, ({ firmwareVersion }) => firmwareVersion === NEW);
    expect((await lastSeenAt(good)) > before).toBe(true);
    expect(await isIdle(good)).toBe(true);
    expect(await finished(hub, jobId)).toMatchObject({ progress: { succeeded: 1, verifyFailed: 1 } });
    expect(await targetOf(jobId, good)).toMatchObject({ outcome: 'SUCCEEDED', attempts: 1 });
    expect(await targetOf(jobId, bad)).toMatchObject({
      outcome: 'VERIFY_FAILED',
      error: { code: 'NOT_APPLIED_OR_ROLLED_BACK' },
    });
    expect(await viewDevice(hub, bad)).toMatchObject({ firmwareVersion: OLD });
    expect(seen).toContainEqual({ firmwareVersion: NEW });
    await changes.return?.();
    await reading;
    await client.dispose();

    // A session that comes later finds nothing new to record.
    expect(await viewDevice(hub, good)).toMatchObject({ toolsStale: true });
    await talk(good);
    await deviceThat(hub, good, (device) => isOnline(device) && !device.toolsStale);
    expect(await eventsOf(hub, good, 'firmware.changed')).toEqual([{ from: OLD, to: NEW }]);
    await fleet.perform({ cmd: 'behaviour', device: good, behaviour: { kind: 'hangUp' } });
  });

  it('proves an upgrade that was called in a conversation', async () => {
    const id = board(3);
    const jobId = await jobOf(hub, { firmwareImageId, devices: { ids: [id] }, abort: [] }, 'called');
    await talk(id);
    expect(await finished(hub, jobId)).toMatchObject({ conclusion: 'SUCCEEDED' });
    expect((await fleet.counts()).devices[id]).toMatchObject({ 'self.upgrade_firmware': 1 });
    expect(await isIdle(id)).toBe(true);
  });

  it('is neither proven nor refuted by a stranger who names its MAC', async () => {
    const [lost, gone] = [board(4), board(5)];
    await fleet.perform({ cmd: 'behaviour', device: lost, behaviour: { kind: 'upgradeFault', how: 'brick' } });
    await fleet.perform({ cmd: 'behaviour', device: gone, behaviour: { kind: 'brick' } });
    const upgrade = await jobOf(hub, { firmwareImageId, devices: { ids: [lost] }, abort: [] }, 'stranger upgrades');
    const restart = await jobOf(hub, { tool: 'self.reboot', devices: { ids: [gone] }, abort: [] }, 'stranger restarts');
    await boot(lost);
    await talk(gone);
    for (const id of [upgrade, restart])
      await eventually(
        () => readJob(hub, id),
        ({ progress }) => progress.verifying === 1,
      );
    for (const version of [NEW, OLD])
      for (const mac of [lost, gone]) await askOta(hub, { mac, uuid: someUuid, version });
    expect(await finished(hub, upgrade)).toMatchObject({ progress: { unknown: 1 } });
    expect(await finished(hub, restart)).toMatchObject({ progress: { unknown: 1 } });
    expect(await targetOf(upgrade, lost)).toMatchObject({ error: { code: 'LOST_AFTER_UPDATE' } });
    expect(await targetOf(restart, gone)).toMatchObject({ error: { code: 'LOST_AFTER_RESTART' } });
    expect(await viewDevice(hub, lost)).toMatchObject({ firmwareVersion: OLD });
  });
});
