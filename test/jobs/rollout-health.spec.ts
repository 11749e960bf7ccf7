/** A roll-out of an image whose boards restart in a loop, over the built hub. [docs/firmware.md] */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../src/api/graphql-client.js';
import { createEnrolmentLink } from '../src/devices/provisioning-api.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { eventually } from '../src/eventually.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { makeImage, publishedImage } from '../src/jobs/firmware-image.js';
import { jobOf, online, readJob, targetsOf } from '../src/jobs/job-api.js';

const DEVICES = 16;
const FIRST_WAVE = 4;
const LOOPING = '9.9.9';
/** Every ten seconds on average: the image is up for long enough to be proven by its version. */
const CRASHES = { kind: 'crashes', perHour: 360, version: LOOPING };

let hub: HubProcess;
let fleet: SimulatedFleet;

beforeAll(async () => {
  hub = await startHub({ env: { FLOTILLA_VERIFY_DEADLINE_SECONDS: '240', FLOTILLA_VERIFY_SOAK_SECONDS: '1' } });
  const ota = await createEnrolmentLink(hub, { maxDevices: DEVICES });
  const args = ['--speed', '20', '--behaviour', JSON.stringify(CRASHES)];
  fleet = startFleet(hub, { devices: DEVICES, profile: 'robot', seed: 31, ota, args });
  await online(hub, DEVICES);
});
afterAll(async () => {
  await fleet.stop();
  await hub.stop();
  removeDataDir(hub.dataDir);
});

describe('a roll-out with a health gate', () => {
  it('of an image that restarts in a loop is stopped in its first wave', async () => {
    const firmwareImageId = await publishedImage(hub, makeImage({ version: LOOPING }), ['otto-robot']);
    const id = await jobOf(
      hub,
      {
        firmwareImageId,
        devices: { all: true },
        maxInFlight: FIRST_WAVE,
        abort: [],
        health: { observeSeconds: 240 },
        // Neither a threshold nor an abort rule: only the gate can stop the job.
        waves: [{ count: FIRST_WAVE, successThreshold: 0 }],
      },
      'looping image',
    );
    await eventually(
      () => readJob(hub, id),
      ({ state }) => state === 'PAUSED',
      180_000,
    );
    const query = `query ($id: ID!) { job(id: $id) { pauseReason currentWave
      trippedHealthGate { version restarts deviceHours baselineRestarts baselineDeviceHours at } } }`;
    const { job } = await ask<{ job: { trippedHealthGate: { restarts: number; deviceHours: number } } }>(hub, query, {
      id,
    });
    expect(job).toMatchObject({
      pauseReason: 'HEALTH_GATE',
      currentWave: 1,
      trippedHealthGate: { version: LOOPING, baselineRestarts: 0 },
    });
    expect(job.trippedHealthGate.restarts).toBeGreaterThanOrEqual(2);
    const targets = await targetsOf(hub, id);
    expect(targets.filter(({ attempts }) => attempts > 0).every(({ wave }) => wave === 1)).toBe(true);
    expect(targets.filter(({ attempts }) => attempts === 0)).toHaveLength(DEVICES - FIRST_WAVE);
  });
});
