import { defaultToolPolicy } from '@flotilla/jobs';
import type { AbortRule, WaveSpec } from '@flotilla/jobs';
import type { CallOutcome, DeviceId, JobId } from '@flotilla/mcp';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { admin, answers, boardTools, deviceNames, openHub, startJob } from '../../fleet-fixture.suite.js';
import type { HubFixture, HubProcess } from '../../fleet-fixture.suite.js';

const failure: CallOutcome = { kind: 'FAILED', certainty: 'YES', error: { code: 'DEVICE_ERROR', message: 'broken' } };
const silence: CallOutcome = { kind: 'UNKNOWN', certainty: 'YES', error: { code: 'TIMEOUT', message: 'no answer' } };
const canary: WaveSpec = { count: 3, successThreshold: 0.95, soakSeconds: 0, gate: 'AUTO' };
const halfFails: AbortRule = { outcomes: ['FAILED'], scope: 'JOB', ratio: 0.5, minDecided: 4, action: 'PAUSE' };

describe('the steps of a job', () => {
  let fixture: HubFixture;
  let hub: HubProcess;

  beforeAll(async () => {
    fixture = await openHub({ tuning: { chance: () => 0.01, stragglerAfterMs: 300, lateAnswerMs: 100 } });
    hub = fixture.hub;
  });
  beforeEach(() => {
    hub.gateway.behave = (_, settle) => settle(answers('true'));
    hub.gateway.forget();
  });
  afterAll(() => fixture.close());

  async function fleetOf(count: number, prefix: string): Promise<readonly string[]> {
    const ids = deviceNames(count, prefix);
    await hub.connect(ids);
    return ids;
  }

  async function becomes(jobId: JobId, expected: object): Promise<void> {
    await hub.clock.until(() => hub.job(jobId)).toMatchObject(expected);
  }

  async function wavesOf(jobId: JobId) {
    const [waves] = await hub.registry.jobs.waves([jobId]);
    return waves ?? [];
  }

  it('go from wave to wave, and nothing of a wave is sent before the one before is decided', async () => {
    const ids = await fleetOf(20, 'waves');
    const jobId = await startJob(hub, ids, {
      waves: [canary, { percent: 50, successThreshold: 0.95, soakSeconds: 0, gate: 'AUTO' }],
    });
    expect(await hub.finished(jobId)).toMatchObject({ conclusion: 'SUCCEEDED', currentWave: 3 });
    const waves = await wavesOf(jobId);
    expect(waves.map(({ size }) => size)).toEqual([3, 7, 10]);
    for (const [index, wave] of waves.entries()) {
      const next = waves[index + 1];
      expect(wave.openedAt).toBeDefined();
      if (next !== undefined) expect(wave.closedAt).toBe(next.openedAt);
    }
    const [page] = await hub.registry.jobs.targets([jobId], {}, { first: 50 });
    const decided = page?.rows.map(({ wave, decidedAt }) => ({ wave, decidedAt })) ?? [];
    for (const { wave, decidedAt } of decided)
      expect(decidedAt).toBeGreaterThanOrEqual(waves[wave - 1]?.openedAt ?? Infinity);
    expect(await hub.registry.jobCommands.reconcile(jobId)).toBe(0);
  });

  it('go on where devices lack the tool: rejections at preparation are no evidence', async () => {
    const able = await fleetOf(12, 'able');
    const unable = deviceNames(12, 'unable');
    await hub.connect(unable, boardTools.slice(0, 1));
    const rejects: AbortRule = { outcomes: ['FAILED', 'REJECTED'], scope: 'JOB', ratio: 0.2, action: 'PAUSE' };
    const jobId = await startJob(hub, [...able, ...unable], {
      tool: 'self.audio_speaker.set_volume',
      arguments: { volume: 5 },
      waves: [{ ...canary, count: 4 }],
      abort: [rejects, { ...rejects, scope: 'WAVE', ratio: 0.1, minDecided: 1 }],
    });
    expect(await hub.finished(jobId)).toMatchObject({ conclusion: 'PARTIAL', trippedRule: undefined });
    expect(await hub.progress(jobId)).toMatchObject({ total: 24, succeeded: 12, rejected: 12 });
    expect((await wavesOf(jobId)).map(({ size }) => size)).toEqual([4, 8]);
  });

  it('end at once where no device can receive the call', async () => {
    const unable = deviceNames(3, 'none');
    await hub.connect(unable, boardTools.slice(0, 1));
    const call = { tool: 'self.audio_speaker.set_volume', arguments: { volume: 5 }, waves: [canary] };
    const jobId = await startJob(hub, unable, call);
    expect(await hub.finished(jobId)).toMatchObject({ conclusion: 'FAILED' });
    expect(await hub.progress(jobId)).toMatchObject({ rejected: 3 });
  });

  it('hold at the gate of a canary that fails, and go on when an operator says so', async () => {
    const ids = await fleetOf(10, 'sick');
    hub.gateway.behave = (_, settle) => settle(failure);
    const jobId = await startJob(hub, ids, { waves: [canary] });
    await becomes(jobId, { state: 'PAUSED', pauseReason: 'WAVE_GATE', currentWave: 1 });
    expect(hub.gateway.callCount).toBe(3);
    hub.gateway.behave = (_, settle) => settle(answers('true'));
    expect((await hub.fleet.openNextWave(jobId, admin)).job).toMatchObject({ state: 'RUNNING' });
    expect(await hub.finished(jobId)).toMatchObject({ conclusion: 'PARTIAL' });
    expect(await hub.progress(jobId)).toMatchObject({ failed: 3, succeeded: 7 });
    expect((await wavesOf(jobId))[0]).toMatchObject({ approvedBy: 'admin' });
    expect((await hub.fleet.openNextWave(jobId, admin)).refusal?.code).toBe('CONFLICT');
  });

  it('hold at a manual gate; resuming opens it', async () => {
    const ids = await fleetOf(6, 'manual');
    const jobId = await startJob(hub, ids, { waves: [{ ...canary, gate: 'MANUAL' }] });
    await becomes(jobId, { state: 'PAUSED', pauseReason: 'WAVE_GATE' });
    expect(await hub.progress(jobId)).toMatchObject({ succeeded: 3, pending: 3 });
    await hub.fleet.resumeJob(jobId, admin);
    expect(await hub.finished(jobId)).toMatchObject({ conclusion: 'SUCCEEDED' });
  });

  it('do not wait for ever for a device that sleeps, and reach it when it wakes', async () => {
    const ids = await fleetOf(8, 'sleepy');
    for (const id of ids.slice(0, 2)) await hub.disconnect(id);
    const jobId = await startJob(hub, ids, { waves: [{ ...canary, count: 7 }] });
    await hub.clock.until(() => hub.progress(jobId)).toMatchObject({ succeeded: 6, waitingDevice: 2 });
    await hub.connect(ids.slice(0, 2));
    expect(await hub.finished(jobId)).toMatchObject({ conclusion: 'SUCCEEDED', currentWave: 2 });
  });

  it('stop by a rule before the fleet is through; resumed, the job is judged on what comes after', async () => {
    const ids = await fleetOf(40, 'ruled');
    hub.gateway.behave = (_, settle) => hub.clock.setTimer(5, () => settle(failure));
    const jobId = await startJob(hub, ids, { abort: [halfFails], maxInFlight: 4 });
    await becomes(jobId, { state: 'PAUSED', pauseReason: 'ABORT_RULE', trippedRule: { rule: halfFails, wave: 1 } });
    const { trippedRule } = await hub.job(jobId);
    expect(trippedRule?.failed).toBeGreaterThanOrEqual(4);
    // The failures that trip it, what was in flight, and one batch.
    expect(hub.gateway.callCount).toBeLessThanOrEqual(4 + 4 + 4);
    await hub.clock.until(() => hub.progress(jobId)).toMatchObject({ inFlight: 0 });
    hub.gateway.behave = (_, settle) => settle(answers('true'));
    await hub.fleet.resumeJob(jobId, admin);
    expect(await hub.finished(jobId)).toMatchObject({ conclusion: 'PARTIAL' });
    expect((await hub.progress(jobId)).succeeded).toBeGreaterThan(0);
  });

  it('cancel by a rule that says so, and the job ends ABORTED', async () => {
    const ids = await fleetOf(60, 'cancels');
    hub.gateway.behave = (_, settle) => hub.clock.setTimer(5, () => settle(failure));
    const jobId = await startJob(hub, ids, { abort: [{ ...halfFails, action: 'CANCEL' }], maxInFlight: 4 });
    expect(await hub.finished(jobId)).toMatchObject({ conclusion: 'ABORTED' });
    expect((await hub.progress(jobId)).cancelled).toBeGreaterThan(0);
    expect(hub.gateway.callCount).toBeLessThan(60);
  });

  it('keep a pace', async () => {
    const ids = await fleetOf(12, 'paced');
    const startedAt = hub.clock.now();
    const jobId = await startJob(hub, ids, { perMinute: 600 });
    expect(await hub.finished(jobId)).toMatchObject({ conclusion: 'SUCCEEDED' });
    expect(hub.clock.now() - startedAt).toBeGreaterThanOrEqual(1_000);
  });

  it.each([
    ['an idempotent tool is sent again after a failure', 'self.get_device_status', 3, { succeeded: 1, failed: 0 }],
    ['any other is not', 'self.lamp.turn_on', 1, { succeeded: 0, failed: 1 }],
  ] as const)('%s', async (_, tool, attempts, counts) => {
    await hub.connect([`flaky-${tool}`]);
    let failures = 0;
    hub.gateway.behave = (_routed, settle) => settle(failures++ < 2 ? failure : answers('true'));
    const jobId = await startJob(hub, [`flaky-${tool}`], { tool });
    await hub.finished(jobId);
    expect(await hub.progress(jobId)).toMatchObject(counts);
    expect(hub.gateway.callCount).toBe(attempts);
    const [page] = await hub.registry.jobs.targets([jobId], {}, { first: 1 });
    expect(page?.rows[0]).toMatchObject({ attempts });
  });

  it('send no more often than was asked, and say what the last try ended in', async () => {
    await hub.connect(['mute']);
    hub.gateway.behave = (_, settle) => settle(silence);
    const jobId = await startJob(hub, ['mute'], { tool: 'self.get_device_status', maxAttempts: 2 });
    await hub.finished(jobId);
    expect(hub.gateway.callCount).toBe(2);
    expect(await hub.progress(jobId)).toMatchObject({ unknown: 1 });
  });

  it('a failure that waited for another try is no cancellation', async () => {
    await hub.connect(['tried']);
    hub.gateway.behave = (_, settle) => settle(failure);
    const jobId = await startJob(hub, ['tried'], { tool: 'self.get_device_status', maxAttempts: 10 });
    await hub.clock.until(() => hub.gateway.callCount).toBeGreaterThanOrEqual(2);
    await hub.fleet.cancelJob(jobId, false, admin);
    await hub.finished(jobId);
    expect(await hub.progress(jobId)).toMatchObject({ failed: 1, cancelled: 0 });
  });

  it('skip a device that was removed before its turn', async () => {
    const ids = await fleetOf(4, 'removed');
    await hub.disconnect('removed-00001');
    const jobId = await startJob(hub, ids);
    await hub.clock.until(() => hub.progress(jobId)).toMatchObject({ waitingDevice: 1 });
    await hub.registry.enrolments.remove('removed-00001' as DeviceId);
    expect(await hub.finished(jobId)).toMatchObject({ conclusion: 'SUCCEEDED' });
    expect(await hub.progress(jobId)).toMatchObject({ succeeded: 3, skipped: 1 });
  });

  it('correct an unknown target by a late answer, once, also when the job has finished', async () => {
    await hub.connect(['late', 'later']);
    hub.gateway.behave = (_, settle) => settle(silence);
    const jobId = await startJob(hub, ['late', 'later']);
    expect(await hub.finished(jobId)).toMatchObject({ conclusion: 'FAILED' });
    const call = hub.gateway.seen.find(({ deviceId }) => deviceId === 'late')?.call;
    if (call === undefined) throw new TypeError('Not called.');
    hub.bus.feed.publish('lateAnswer', { callId: call.callId, outcome: answers('done') });
    await hub.clock.until(() => hub.progress(jobId)).toMatchObject({ succeeded: 1, unknown: 1 });
    hub.bus.feed.publish('lateAnswer', { callId: call.callId, outcome: failure });
    const [page] = await hub.registry.jobs.targets([jobId], { outcomes: ['SUCCEEDED'] }, { first: 5 });
    expect(page?.rows).toMatchObject([
      { deviceId: 'late', late: true, error: undefined, result: { content: [{ text: 'done' }] } },
    ]);
    await hub.clock.pass(1_000);
    expect(await hub.progress(jobId)).toMatchObject({ succeeded: 1, unknown: 1, failed: 0 });
    expect(await hub.registry.jobCommands.reconcile(jobId)).toBe(0);
  });

  it('never let a disruptive job share a device with another job, disruptive or plain', async () => {
    const ids = await fleetOf(6, 'locked');
    const running = new Map<DeviceId, number>();
    let most = 0;
    const pattern = 'self.screen.set_theme';
    const disruptive = new Set<DeviceId>();
    hub.gateway.behave = ({ deviceId, call }, settle) => {
      running.set(deviceId, (running.get(deviceId) ?? 0) + 1);
      if (call.tool === pattern) disruptive.add(deviceId);
      if (disruptive.has(deviceId)) most = Math.max(most, running.get(deviceId) ?? 0);
      hub.clock.setTimer(60, () => {
        running.set(deviceId, (running.get(deviceId) ?? 1) - 1);
        if (call.tool === pattern) disruptive.delete(deviceId);
        settle(answers('true'));
      });
    };
    await hub.fleet.setToolPolicy({ ...defaultToolPolicy, pattern, disruptive: true }, admin);
    const tools = [pattern, 'self.get_device_status', pattern, 'self.lamp.turn_on', pattern];
    const jobs = await Promise.all(tools.map((tool) => startJob(hub, ids, { tool })));
    for (const [index, tool] of tools.entries())
      expect((await hub.job(jobs[index] as JobId)).disruptive).toBe(tool === pattern);
    await Promise.all(jobs.map((jobId) => hub.finished(jobId)));
    expect(most).toBe(1);
    for (const jobId of jobs) expect(await hub.progress(jobId)).toMatchObject({ succeeded: 6 });
  });
});

describe('jobs that share scarce slots', () => {
  it('all go on, and never have more in flight than there are slots', async () => {
    const fixture = await openHub({ tuning: { jobsInFlightMax: 10 } });
    const { hub } = fixture;
    const [big, small] = [deviceNames(500, 'big'), deviceNames(10, 'small')];
    await hub.connect([...big, ...small]);
    hub.gateway.behave = (_, settle) => hub.clock.setTimer(15, () => settle(answers('true')));
    const first = await startJob(hub, big, { tool: 'self.get_device_status', maxInFlight: 100 });
    await hub.clock.until(() => hub.gateway.callCount).toBeGreaterThan(10);
    const second = await startJob(hub, small, { tool: 'self.get_device_status', maxInFlight: 100 });
    await hub.finished(second);
    await hub.finished(first);
    const callers = hub.gateway.seen.map(({ deviceId }) => deviceId.slice(0, 3));
    expect(callers.lastIndexOf('big')).toBeGreaterThan(callers.lastIndexOf('sma'));
    expect(hub.gateway.inFlightMost).toBeLessThanOrEqual(10);
    await fixture.close();
  });
});
