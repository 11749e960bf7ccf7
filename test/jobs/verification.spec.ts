/**
 * Verifies values, restarts and upgrades by what devices do, over the built hub and real sockets.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../src/eventually.js';
import { ask } from '../src/api/graphql-client.js';
import { makeDataDir, removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { finished, jobOf, online, readJob, sumOf, targetsOf, type TargetNode } from '../src/jobs/job-api.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';

/** Firmware 2.1 restarts 5 s after an upgrade and answers late after 7 s; the bounds leave room. */
const quick = {
  FLOTILLA_DEVICE_URLS: 'https://files.example',
  FLOTILLA_VERIFY_REBOOT_SECONDS: '8',
  FLOTILLA_VERIFY_DEADLINE_SECONDS: '12',
  FLOTILLA_VERIFY_SOAK_SECONDS: '1',
  FLOTILLA_VERIFY_OVERDUE_SECONDS: '0',
};
const upgrade = {
  tool: 'self.upgrade_firmware',
  arguments: { url: 'https://files.example/9.9.9.bin' },
  callTimeoutMs: 3_000,
};
const setVolume = { tool: 'self.audio_speaker.set_volume', arguments: { volume: 33 } };
const LAMPS = 10;
/** Firmware 2.0.3 answers a restart and an upgrade with `true` before it has begun. */
const INTERIMS = 3;

describe('verification', () => {
  const dataDir = makeDataDir();
  let hub: HubProcess;
  let fleets: readonly SimulatedFleet[];
  let lamps: readonly string[];
  let interims: readonly string[];

  beforeAll(async () => {
    hub = await startHub({ dataDir, embedded: true, env: quick });
    const args = ['--boot-ms', '200'];
    fleets = [
      startFleet(hub, { devices: LAMPS, profile: 'lamp', args }),
      startFleet(hub, { devices: INTERIMS, profile: 'interim', seed: 2, args }),
    ];
    await online(hub, LAMPS + INTERIMS);
    lamps = await idsOf('bread-compact-wifi');
    interims = await idsOf('esp-box-3');
  });

  afterAll(async () => {
    for (const fleet of fleets) await fleet.stop();
    await hub.stop();
    removeDataDir(dataDir);
  });

  async function idsOf(model: string): Promise<readonly string[]> {
    const query = 'query ($model: String!) { devices(filter: { model: $model }, first: 50) { nodes { id } } }';
    return (await ask<{ devices: { nodes: { id: string }[] } }>(hub, query, { model })).devices.nodes.map(
      ({ id }) => id,
    );
  }

  const lamp = (index: number): string => lamps[index] ?? '';

  async function behave(device: string, behaviour: Readonly<Record<string, unknown>>): Promise<void> {
    await fleets[interims.includes(device) ? 1 : 0]?.perform({ cmd: 'behaviour', device, behaviour });
  }

  /** Outcome and code of each device at the end of the job, whose counters sum. */
  async function endOf(id: string): Promise<ReadonlyMap<string, TargetNode>> {
    const job = await finished(hub, id);
    const targets = await targetsOf(hub, id);
    expect(sumOf(job)).toBe(targets.length);
    return new Map(targets.map((target) => [target.deviceId, target]));
  }

  async function callsOf(device: string): Promise<Readonly<Record<string, number>>> {
    return (await fleets[0]?.counts())?.devices[device] ?? {};
  }

  async function eventsOf(deviceId: string, type: string): Promise<number> {
    const query = 'query ($filter: EventFilter!) { events(filter: $filter, first: 50) { nodes { type } } }';
    return (await ask<{ events: { nodes: unknown[] } }>(hub, query, { filter: { deviceId, types: [type] } })).events
      .nodes.length;
  }

  it('finds devices that did what was asked, devices that did not, and lost ones', async () => {
    const [deaf, stays, upgrades, rollsBack, fails, bricks] = [0, 2, 4, 5, 6, 7].map(lamp) as [
      string,
      string,
      string,
      string,
      string,
      string,
    ];
    const [restarts, answersFirst, onlyAnswers] = interims as [string, string, string];
    await behave(answersFirst, { kind: 'upgradeTo', version: '9.9.9' });
    await behave(onlyAnswers, { kind: 'noEffect', tool: 'self.upgrade_firmware' });
    await behave(deaf, { kind: 'noEffect', tool: setVolume.tool });
    await behave(stays, { kind: 'noEffect', tool: 'self.reboot' });
    await behave(upgrades, { kind: 'upgradeTo', version: '9.9.9' });
    await behave(rollsBack, { kind: 'upgradeTo', version: '9.9.9', rollBackAfterMs: 500 });
    await behave(bricks, { kind: 'upgradeTo', version: '9.9.9' });
    await behave(bricks, { kind: 'brick' });
    const volumes = await jobOf(
      hub,
      { ...setVolume, devices: { ids: [deaf, lamp(1)] }, verification: 'READBACK' },
      'volumes',
    );
    const reboots = await jobOf(hub, { tool: 'self.reboot', devices: { ids: [stays, lamp(3), restarts] } }, 'reboots');
    const upgraded = await jobOf(
      hub,
      { ...upgrade, devices: { ids: [upgrades, rollsBack, fails, bricks, answersFirst, onlyAnswers] } },
      'upgrades',
    );

    const read = await endOf(volumes);
    expect(read.get(deaf)).toMatchObject({ outcome: 'VERIFY_FAILED', error: { code: 'READBACK_DIFFERS' } });
    expect(read.get(lamp(1))).toMatchObject({ outcome: 'SUCCEEDED', error: null });

    const restarted = await endOf(reboots);
    expect(restarted.get(stays)).toMatchObject({ outcome: 'VERIFY_FAILED', error: { code: 'DID_NOT_RESTART' } });
    expect(restarted.get(lamp(3))).toMatchObject({ outcome: 'SUCCEEDED' });
    expect(restarted.get(restarts)).toMatchObject({ outcome: 'SUCCEEDED' });

    const installed = await endOf(upgraded);
    expect(installed.get(upgrades)).toMatchObject({ outcome: 'SUCCEEDED', attempts: 1 });
    expect(installed.get(rollsBack)).toMatchObject({
      outcome: 'VERIFY_FAILED',
      error: { code: 'NOT_APPLIED_OR_ROLLED_BACK' },
    });
    expect(installed.get(fails)).toMatchObject({
      outcome: 'VERIFY_FAILED',
      error: { code: 'UPDATE_DID_NOT_START_OR_FAILED' },
    });
    expect(installed.get(bricks)).toMatchObject({ outcome: 'UNKNOWN', error: { code: 'LOST_AFTER_UPDATE' } });
    // What says `true` at once is believed when it comes back with the version, and not before.
    expect(installed.get(answersFirst)).toMatchObject({ outcome: 'SUCCEEDED', attempts: 1 });
    expect(installed.get(onlyAnswers)).toMatchObject({
      outcome: 'VERIFY_FAILED',
      error: { code: 'UPDATE_DID_NOT_START_OR_FAILED' },
    });
    // The device that may be stuck was asked to restart, once, and readers of the job learn of it.
    expect(await callsOf(fails)).toMatchObject({ 'self.upgrade_firmware': 1, 'self.reboot': 1 });
    expect(installed.get(fails)?.error?.message).toContain('asks the device to restart');
    await eventually(
      () => eventsOf(fails, 'device.restarted_after_upgrade'),
      (count) => count === 1,
    );
    expect(await callsOf(rollsBack)).not.toHaveProperty('self.reboot');
  });

  it('goes on after a kill -9 of the hub', async () => {
    const [upgrades, stays] = [lamp(8), lamp(9)];
    await behave(upgrades, { kind: 'upgradeTo', version: '9.9.9' });
    await behave(stays, { kind: 'noEffect', tool: 'self.upgrade_firmware' });
    const id = await jobOf(hub, { ...upgrade, callTimeoutMs: 1_000, devices: { ids: [upgrades, stays] } }, 'killed');
    await eventually(
      () => readJob(hub, id),
      (job) => job.progress.verifying > 0 && job.progress.inFlight === 0,
    );
    const ports = { FLOTILLA_HTTP_PORT: String(hub.httpPort), FLOTILLA_MQTT_PORT: String(hub.mqttPort) };
    await hub.kill();
    hub = await startHub({ dataDir, embedded: true, env: { ...quick, ...ports } });
    const targets = await endOf(id);
    expect(targets.get(upgrades)).toMatchObject({ outcome: 'SUCCEEDED', attempts: 1 });
    expect(targets.get(stays)).toMatchObject({
      outcome: 'VERIFY_FAILED',
      error: { code: 'NOT_APPLIED_OR_ROLLED_BACK' },
      attempts: 1,
    });
  });
});
