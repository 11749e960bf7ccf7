/** A job in waves: a canary first, a pace, a stop by its rules, and corrections by late answers. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../src/eventually.js';
import { ask } from '../src/api/graphql-client.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { createJob, finished, jobOf, online, readJob, steerJob, sumOf, targetsOf } from '../src/jobs/job-api.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';

const DEVICES = 60;
const VOLUME = { tool: 'self.audio_speaker.set_volume', arguments: { volume: 5 }, devices: { all: true } };

interface Steps {
  readonly state: string;
  readonly pauseReason: string | null;
  readonly currentWave: number;
  readonly waves: readonly {
    readonly number: number;
    readonly size: number;
    readonly decided: number;
    readonly openedAt: string | null;
  }[];
  readonly trippedRule: { readonly decided: number; readonly failed: number; readonly action: string } | null;
}

describe('a job that goes out in steps', () => {
  let hub: HubProcess;
  let fleet: SimulatedFleet;

  beforeAll(async () => {
    hub = await startHub();
    fleet = startFleet(hub, { devices: DEVICES, profile: 'mixed' });
    await online(hub, DEVICES);
  });
  beforeEach(() => fleet.command({ cmd: 'behaviour', device: '*', behaviour: { kind: 'normal' } }));
  afterAll(async () => {
    await fleet.stop();
    await hub.stop();
    removeDataDir(hub.dataDir);
  });

  async function stepsOf(id: string): Promise<Steps> {
    const fields =
      'state pauseReason currentWave waves { number size decided openedAt } trippedRule { decided failed action }';
    return (await ask<{ job: Steps }>(hub, `query ($id: ID!) { job(id: $id) { ${fields} } }`, { id })).job;
  }

  const paused = (id: string, reason: string): Promise<Steps> =>
    eventually(
      () => stepsOf(id),
      ({ state, pauseReason }) => state === 'PAUSED' && pauseReason === reason,
    );

  const openNextWave = (id: string) =>
    ask<{ openNextWave: { userErrors: { code: string }[] } }>(
      hub,
      'mutation ($id: ID!) { openNextWave(id: $id) { job { state } userErrors { code } } }',
      { id },
    );

  it('stops at a failing canary, calls no other device, and goes on when an operator resumes it', async () => {
    fleet.command({ cmd: 'behaviour', device: '*', behaviour: { kind: 'errorWithoutCode', tool: VOLUME.tool } });
    const id = await jobOf(hub, { ...VOLUME, maxAttempts: 1, waves: [{ count: 3 }, { percent: 50 }] }, 'sick canary');
    const { waves } = await paused(id, 'WAVE_GATE');
    expect(waves.map(({ size }) => size)).toEqual([3, 27, 30]);
    expect(waves.map(({ openedAt }) => openedAt !== null)).toEqual([true, false, false]);
    expect(await readJob(hub, id)).toMatchObject({ progress: { failed: 3, pending: 57 } });
    fleet.command({ cmd: 'behaviour', device: '*', behaviour: { kind: 'normal' } });
    expect((await openNextWave(id)).openNextWave.userErrors).toEqual([]);
    const job = await finished(hub, id);
    expect(job).toMatchObject({ conclusion: 'PARTIAL', progress: { failed: 3, succeeded: 57 } });
    expect(sumOf(job)).toBe(DEVICES);
    expect((await openNextWave(id)).openNextWave.userErrors).toMatchObject([{ code: 'CONFLICT' }]);
  });

  it('waits at a manual gate', async () => {
    const id = await jobOf(hub, { ...VOLUME, waves: [{ count: 5, gate: 'MANUAL' }] }, 'manual gate');
    expect((await paused(id, 'WAVE_GATE')).waves[0]).toMatchObject({ decided: 5 });
    await steerJob(hub, 'resumeJob', id);
    expect(await finished(hub, id)).toMatchObject({ conclusion: 'SUCCEEDED' });
  });

  it('keeps its pace', async () => {
    const from = Date.now();
    const id = await jobOf(hub, { ...VOLUME, perMinute: 1_800 }, 'paced');
    await finished(hub, id);
    // 60 devices at 30 a second, of which a bucket may hold the first two or three.
    expect(Date.now() - from).toBeGreaterThanOrEqual(1_800);
  });

  it.each([
    ['PAUSE', 'PAUSED'],
    ['CANCEL', 'FINISHED'],
  ])('stops by a rule (%s) before the fleet is through', async (action, state) => {
    fleet.command({ cmd: 'behaviour', device: '*', behaviour: { kind: 'errorWithoutCode', tool: VOLUME.tool } });
    const abort = [{ outcomes: ['FAILED'], ratio: 0.5, minDecided: 5, action }];
    const id = await jobOf(hub, { ...VOLUME, maxAttempts: 1, maxInFlight: 5, abort }, `rule ${action}`);
    const stopped = await eventually(
      () => stepsOf(id),
      (job) => job.state === state,
    );
    expect(stopped.trippedRule).toMatchObject({ action });
    const { progress } = await readJob(hub, id);
    expect(progress.failed + progress.inFlight).toBeLessThanOrEqual(5 + 5 + 5);
    if (state === 'PAUSED') await steerJob(hub, 'cancelJob', id);
    expect(await finished(hub, id)).toMatchObject({ conclusion: state === 'PAUSED' ? 'CANCELLED' : 'ABORTED' });
  });

  it('sends an idempotent tool again where it failed, and no other', async () => {
    fleet.command({
      cmd: 'behaviour',
      device: '*',
      behaviour: { kind: 'errorWithoutCode', tool: VOLUME.tool, times: 1 },
    });
    const devices = { search: 'a' };
    const id = await jobOf(hub, { ...VOLUME, devices, maxAttempts: 2 }, 'again');
    expect(await finished(hub, id)).toMatchObject({ conclusion: 'SUCCEEDED' });
    expect((await targetsOf(hub, id)).every(({ attempts }) => attempts === 2)).toBe(true);
  });

  it('corrects an unknown outcome once, when the answer comes after all', async () => {
    fleet.command({
      cmd: 'behaviour',
      device: '*',
      behaviour: { kind: 'lateReply', ms: 1_500, tool: VOLUME.tool, times: 1 },
    });
    const id = await jobOf(hub, { ...VOLUME, maxAttempts: 1, callTimeoutMs: 1_000 }, 'late');
    expect(await finished(hub, id)).toMatchObject({ progress: { unknown: DEVICES } });
    const job = await eventually(
      () => readJob(hub, id),
      ({ progress }) => progress.unknown === 0,
    );
    expect(job).toMatchObject({ conclusion: 'FAILED', progress: { succeeded: DEVICES } });
    expect(sumOf(job)).toBe(DEVICES);
  });

  it.each([
    ['a wave of two sizes', { waves: [{ count: 1, percent: 5 }] }],
    ['waves that do not rise', { waves: [{ percent: 50 }, { percent: 20 }] }],
    ['a rule that never trips', { abort: [{ outcomes: ['FAILED'] }] }],
    ['a rule about successes', { abort: [{ outcomes: ['SUCCEEDED'], count: 1 }] }],
  ])('refuses %s, and makes no job', async (name, change) => {
    expect(await createJob(hub, { ...VOLUME, ...change }, name)).toMatchObject({
      job: null,
      userErrors: [{ code: 'INVALID' }],
    });
  });
});
