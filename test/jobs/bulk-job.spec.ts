/** One bulk call over the fleet: an outcome per device, counters that always sum, and a pause. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../src/eventually.js';
import { ask, subscriptions } from '../src/api/graphql-client.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { createJob, finished, jobOf, online, readJob, steerJob, sumOf, targetsOf } from '../src/jobs/job-api.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';

const DEVICES = 300;

describe('a bulk job', () => {
  let hub: HubProcess;
  let fleet: SimulatedFleet;

  beforeAll(async () => {
    hub = await startHub();
    fleet = startFleet(hub, { devices: DEVICES, profile: 'mixed' });
    await online(hub, DEVICES);
  });

  afterAll(async () => {
    await fleet.stop();
    await hub.stop();
    removeDataDir(hub.dataDir);
  });

  it('calls every device once and ends with an outcome for each', async () => {
    const before = (await fleet.counts()).tools['self.audio_speaker.set_volume'] ?? 0;
    const id = await jobOf(
      hub,
      { tool: 'self.audio_speaker.set_volume', arguments: { volume: 21 }, devices: { all: true } },
      'volume-all',
    );
    const job = await finished(hub, id);
    expect(job).toMatchObject({ conclusion: 'SUCCEEDED', progress: { total: DEVICES, succeeded: DEVICES } });
    expect(sumOf(job)).toBe(DEVICES);
    expect((await fleet.counts()).tools['self.audio_speaker.set_volume']).toBe(before + DEVICES);
    const targets = await targetsOf(hub, id);
    expect(targets).toHaveLength(DEVICES);
    expect(new Set(targets.map((target) => target.deviceId)).size).toBe(DEVICES);
    expect(targets.every((target) => target.outcome === 'SUCCEEDED' && target.attempts === 1)).toBe(true);
  });

  it('shows each target as a call of its device', async () => {
    const id = await jobOf(hub, { tool: 'self.get_device_status', devices: { all: true } }, 'status-all');
    await finished(hub, id);
    const { calls } = await ask<{
      calls: { nodes: { deviceId: string; jobId: string; outcome: string; result: { json: unknown } }[] };
    }>(
      hub,
      `query ($id: ID!) {
        calls(filter: { jobId: $id }, first: 200) { nodes { deviceId jobId outcome result { json } } } }`,
      { id },
    );
    expect(calls.nodes).toHaveLength(200);
    expect(calls.nodes[0]).toMatchObject({ jobId: id, outcome: 'SUCCEEDED', result: { json: { audio_speaker: {} } } });
  });

  it('rejects devices that lack the tool before anything is sent to them', async () => {
    const id = await jobOf(hub, { tool: 'self.lamp.turn_on', devices: { all: true } }, 'lamp-all');
    const job = await finished(hub, id);
    const { total } = await ask<{ tools: { nodes: { deviceCount: number }[] } }>(
      hub,
      '{ tools(filter: { name: "self.lamp.turn_on" }) { nodes { deviceCount } } }',
    ).then(({ tools }) => ({ total: tools.nodes.reduce((sum, tool) => sum + tool.deviceCount, 0) }));
    expect(job.progress).toMatchObject({ succeeded: total, rejected: DEVICES - total });
    expect(job.conclusion).toBe('PARTIAL');
    const rejected = (await targetsOf(hub, id)).find((target) => target.outcome === 'REJECTED');
    expect(rejected).toMatchObject({ attempts: 0, error: { code: 'TOOL_UNKNOWN' } });
  });

  it('is made once for one idempotency key, and refuses another request under it', async () => {
    const input = { tool: 'self.get_device_status', devices: { all: true } };
    const first = await createJob(hub, input, 'same-key');
    expect((await createJob(hub, input, 'same-key')).job?.id).toBe(first.job?.id);
    expect(await createJob(hub, { ...input, tool: 'self.lamp.turn_off' }, 'same-key')).toMatchObject({
      job: null,
      userErrors: [{ code: 'IDEMPOTENCY_KEY_REUSED' }],
    });
  });

  it('refuses a filter without a condition', async () => {
    for (const devices of [{}, { any: [{}] }]) {
      expect(
        await createJob(hub, { tool: 'self.get_device_status', devices }, `empty-${JSON.stringify(devices)}`),
      ).toMatchObject({
        job: null,
        userErrors: [{ code: 'INVALID' }],
      });
    }
  });

  it('sends nothing while paused, goes on when resumed, and ends never-sent targets when cancelled', async () => {
    // Not the status tool: the hub itself asks for the state that earlier jobs have set.
    const tool = 'self.audio_speaker.set_volume';
    fleet.command({ cmd: 'behaviour', device: '*', behaviour: { kind: 'slow', tool, ms: 300 } });
    const id = await jobOf(
      hub,
      { tool, arguments: { volume: 33 }, devices: { all: true }, maxInFlight: 10 },
      'steered',
    );
    await eventually(
      () => readJob(hub, id),
      (job) => job.progress.succeeded > 0,
    );
    expect((await steerJob(hub, 'pauseJob', id)).job).toMatchObject({ state: 'PAUSED' });
    const resting = await eventually(
      () => readJob(hub, id),
      (job) => job.progress.inFlight === 0,
    );
    const quiet = (await fleet.counts()).tools[tool];
    expect(await steerJob(hub, 'pauseJob', id)).toMatchObject({ job: { state: 'PAUSED' }, userErrors: [] });
    expect((await fleet.counts()).tools[tool]).toBe(quiet);
    expect(sumOf(resting)).toBe(DEVICES);
    expect((await steerJob(hub, 'resumeJob', id)).job).toMatchObject({ state: 'RUNNING' });
    await eventually(
      () => readJob(hub, id),
      (job) => job.progress.succeeded > resting.progress.succeeded,
    );
    await steerJob(hub, 'cancelJob', id);
    const job = await finished(hub, id);
    expect(job.conclusion).toBe('CANCELLED');
    expect(job.progress.cancelled).toBeGreaterThan(0);
    expect(job.progress.succeeded + job.progress.cancelled).toBe(DEVICES);
    expect(await steerJob(hub, 'cancelJob', id)).toMatchObject({
      job: { state: 'FINISHED', conclusion: 'CANCELLED' },
      userErrors: [],
    });
    fleet.command({ cmd: 'behaviour', device: '*', behaviour: { kind: 'normal' } });
  });

  it('streams its progress, the present value first, and completes', async () => {
    const id = await jobOf(
      hub,
      { tool: 'self.get_device_status', devices: { all: true }, maxInFlight: 20 },
      'streamed',
    );
    const client = subscriptions(hub);
    const states: string[] = [];
    for await (const { data } of client.iterate<{ jobProgress: { state: string } }>({
      query: 'subscription ($id: ID!) { jobProgress(jobId: $id) { state progress { total } } }',
      variables: { id },
    })) {
      if (data) states.push(data.jobProgress.state);
    }
    expect(states.at(-1)).toBe('FINISHED');
    await client.dispose();
  });

  it('waits for devices that are away, and delivers when they come', async () => {
    const late = startFleet(hub, { devices: 5, seed: 77 });
    await online(hub, DEVICES + 5);
    const { devices } = await ask<{ devices: { nodes: { id: string }[] } }>(
      hub,
      '{ devices(first: 5, orderBy: LAST_SEEN_DESC) { nodes { id } } }',
    );
    const ids = devices.nodes.map((device) => device.id);
    await late.stop();
    await online(hub, DEVICES);
    const input = { tool: 'self.audio_speaker.set_volume', arguments: { volume: 3 }, devices: { ids } };
    const skipping = await finished(hub, await jobOf(hub, { ...input, offline: 'SKIP' }, 'away-skip'));
    expect(skipping.progress).toMatchObject({ total: 5, skipped: 5 });
    const failing = await finished(hub, await jobOf(hub, { ...input, offline: 'FAIL' }, 'away-fail'));
    expect(failing.progress).toMatchObject({ total: 5, rejected: 5 });
    const expiring = await finished(hub, await jobOf(hub, { ...input, expiresInSeconds: 1 }, 'away-expire'));
    expect(expiring).toMatchObject({ conclusion: 'EXPIRED', progress: { total: 5, expired: 5 } });
    const id = await jobOf(hub, input, 'away-wait');
    await eventually(
      () => readJob(hub, id),
      (job) => job.progress.waitingDevice === 5,
    );
    const back = startFleet(hub, { devices: 5, seed: 77 });
    expect((await finished(hub, id)).progress).toMatchObject({ total: 5, succeeded: 5 });
    await back.stop();
  });
});
