import type { CallOutcome, JobId } from '@flotilla/mcp';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { admin, answers, deviceNames, openHub, startJob } from '../../fleet-fixture.suite.js';
import type { HubFixture, HubProcess } from '../../fleet-fixture.suite.js';

const offline: CallOutcome = {
  kind: 'NOT_SENT',
  certainty: 'NEVER',
  error: { code: 'DEVICE_OFFLINE', message: 'gone' },
};
const busy: CallOutcome = { kind: 'NOT_SENT', certainty: 'NEVER', error: { code: 'OVERLOADED', message: 'busy' } };
const silence: CallOutcome = { kind: 'UNKNOWN', certainty: 'YES', error: { code: 'TIMEOUT', message: 'no answer' } };

describe('a job', () => {
  let fixture: HubFixture;
  let hub: HubProcess;

  beforeAll(async () => {
    fixture = await openHub();
    hub = fixture.hub;
  });
  beforeEach(() => {
    hub.gateway.behave = (_, settle) => settle(answers('true'));
    hub.gateway.forget();
  });
  afterAll(() => fixture.close());

  /** The counters are what the rows say. */
  async function expectHonestCounters(jobId: JobId): Promise<void> {
    expect(await hub.registry.jobCommands.reconcile(jobId)).toBe(0);
    const { total, ...states } = await hub.progress(jobId);
    expect(Object.values(states).reduce((sum, count) => sum + count, 0)).toBe(total);
  }

  /** A job with five calls under way, each answered when its function is run. */
  async function holdFive(
    deviceCount: number,
    prefix: string,
  ): Promise<{ readonly jobId: JobId; readonly settles: (() => void)[] }> {
    const ids = deviceNames(deviceCount, prefix);
    await hub.connect(ids);
    const settles: (() => void)[] = [];
    hub.gateway.behave = (_, settle) => settles.push(() => settle(answers('true')));
    const jobId = await startJob(hub, ids, { maxInFlight: 5 });
    await hub.clock.until(() => hub.gateway.callCount).toBe(5);
    return { jobId, settles };
  }

  it('calls every device once and ends SUCCEEDED with an outcome for each', async () => {
    const ids = deviceNames(120, 'many');
    await hub.connect(ids);
    const jobId = await startJob(hub, ids);
    expect(await hub.finished(jobId)).toMatchObject({ conclusion: 'SUCCEEDED', total: 120 });
    expect([...hub.gateway.callsByDevice.values()]).toEqual(Array.from({ length: 120 }, () => 1));
    expect(await hub.progress(jobId)).toMatchObject({ total: 120, succeeded: 120 });
    await expectHonestCounters(jobId);
    const [page] = await hub.registry.jobs.targets([jobId], {}, { first: 1 });
    expect(page?.rows[0]).toMatchObject({
      outcome: 'SUCCEEDED',
      attempts: 1,
      result: { content: [{ type: 'text', text: 'true' }] },
    });
  });

  it('never has more calls under way than it may', async () => {
    const ids = deviceNames(60, 'few');
    await hub.connect(ids);
    hub.gateway.behave = (_, settle) => hub.clock.setTimer(5, () => settle(answers('true')));
    const jobId = await startJob(hub, ids, { maxInFlight: 7, tool: 'self.get_device_status' });
    await hub.finished(jobId);
    expect(hub.gateway.inFlightMost).toBeLessThanOrEqual(7);
    expect(hub.gateway.inFlightMost).toBeGreaterThan(1);
  });

  it('ends an empty target set at once', async () => {
    const jobId = await startJob(hub, ['no-such-device']);
    expect(await hub.finished(jobId)).toMatchObject({ conclusion: 'SUCCEEDED', total: 0 });
  });

  it('counts failures, unknowns and rejections apart', async () => {
    await hub.connect(['fails', 'silent', 'works']);
    await hub.connect(['toolless'], []);
    hub.gateway.behave = ({ deviceId }, settle) => {
      if (deviceId === 'fails')
        settle({
          kind: 'FAILED',
          certainty: 'YES',
          error: { code: 'DEVICE_ERROR', message: 'lamp is gone', rpcCode: -1 },
        });
      else settle(deviceId === 'silent' ? silence : answers('true'));
    };
    const jobId = await startJob(hub, ['fails', 'silent', 'works', 'toolless']);
    expect(await hub.finished(jobId)).toMatchObject({ conclusion: 'PARTIAL' });
    expect(await hub.progress(jobId)).toMatchObject({ succeeded: 1, failed: 1, unknown: 1, rejected: 1 });
    expect(hub.gateway.callsByDevice.get('silent' as never)).toBe(1);
    const [groups] = await hub.registry.jobs.failureGroups([jobId], 10);
    expect(new Set(groups?.map(({ code }) => code))).toEqual(new Set(['DEVICE_ERROR', 'TIMEOUT', 'TOOL_UNKNOWN']));
    await expectHonestCounters(jobId);
  });

  it('rejects user-only tools on behalf of an actor who may not call them, target by target', async () => {
    await hub.connect(['guarded']);
    await hub.connect(
      ['open'],
      [{ name: 'self.reboot', description: '', inputSchema: { type: 'object', properties: {} }, userOnly: false }],
    );
    const { job } = await hub.fleet.createJob(
      { tool: 'self.reboot', arguments: {}, devices: { ids: ['guarded', 'open'] } },
      'key',
      {
        id: 'KEY:operator',
        name: 'operator',
        mayCallUserOnly: false,
        mayChangeFirmware: false,
      },
    );
    if (job === undefined) throw new TypeError('Refused.');
    await hub.finished(job.id);
    expect([...hub.gateway.callsByDevice.keys()]).toEqual(['open']);
    expect(await hub.registry.jobs.failureGroups([job.id], 1)).toMatchObject([
      [{ code: 'TOOL_FORBIDDEN', sampleDeviceIds: ['guarded'] }],
    ]);
  });

  it('waits for devices that are away and reaches them when they come', async () => {
    const ids = deviceNames(4, 'waits');
    await hub.connect(ids);
    await hub.disconnect('waits-00002');
    const jobId = await startJob(hub, ids);
    await hub.clock.until(() => hub.progress(jobId)).toMatchObject({ succeeded: 3, waitingDevice: 1 });
    await hub.connect(['waits-00002']);
    expect(await hub.finished(jobId)).toMatchObject({ conclusion: 'SUCCEEDED' });
    expect(hub.gateway.callsByDevice.get('waits-00002' as never)).toBe(1);
  });

  it('does not count an attempt for a device that vanished before anything was sent', async () => {
    await hub.connect(['flaky']);
    let refusals = 0;
    hub.gateway.behave = (_, settle) => settle(refusals++ === 0 ? offline : answers('true'));
    const jobId = await startJob(hub, ['flaky']);
    await hub.clock.until(() => hub.progress(jobId)).toMatchObject({ waitingDevice: 1 });
    await hub.connect(['flaky']);
    await hub.finished(jobId);
    const [page] = await hub.registry.jobs.targets([jobId], {}, { first: 1 });
    expect(page?.rows[0]).toMatchObject({ outcome: 'SUCCEEDED', attempts: 1 });
  });

  it('tries a busy device again until it takes the call', async () => {
    await hub.connect(['busy', 'idle']);
    let refusals = 0;
    hub.gateway.behave = ({ deviceId }, settle) =>
      settle(deviceId === 'busy' && refusals++ < 2 ? busy : answers('true'));
    const jobId = await startJob(hub, ['busy', 'idle']);
    expect(await hub.finished(jobId)).toMatchObject({ conclusion: 'SUCCEEDED' });
    expect(hub.gateway.callsByDevice.get('busy' as never)).toBe(3);
    await expectHonestCounters(jobId);
  });

  it('neither hurries a gateway that is too busy for all of it, nor leaves what was not sent in flight', async () => {
    const ids = deviceNames(30, 'crowd');
    await hub.connect(ids);
    hub.gateway.behave = (_, settle) => settle(busy);
    const startedAt = hub.clock.now();
    const jobId = await startJob(hub, ids, { maxInFlight: 5 });
    await hub.clock.until(() => hub.gateway.callCount).toBe(5);
    await hub.clock.until(() => hub.progress(jobId)).toMatchObject({ pending: 30, inFlight: 0 });
    expect(hub.clock.now() - startedAt).toBeLessThan(900);
    await hub.clock.until(() => hub.gateway.callCount).toBeGreaterThan(10);
    expect(hub.gateway.callCount).toBeLessThanOrEqual(5 * Math.ceil((hub.clock.now() - startedAt) / 1_000 + 1));
    hub.gateway.behave = (_, settle) => settle(answers('true'));
    expect(await hub.finished(jobId)).toMatchObject({ conclusion: 'SUCCEEDED' });
    await expectHonestCounters(jobId);
  });

  it.each([
    ['SKIP', { skipped: 1, rejected: 0 }],
    ['FAIL', { skipped: 0, rejected: 1 }],
  ] as const)('with %s does not wait for devices that are away', async (policy, counts) => {
    await hub.connect([`here-${policy}`, `away-${policy}`]);
    await hub.disconnect(`away-${policy}`);
    const jobId = await startJob(hub, [`here-${policy}`, `away-${policy}`], { offline: policy });
    await hub.finished(jobId);
    expect(await hub.progress(jobId)).toMatchObject({ succeeded: 1, ...counts });
  });

  it('expires what was never sent, and keeps what was', async () => {
    await hub.connect(['here', 'away']);
    await hub.disconnect('away');
    const jobId = await startJob(hub, ['here', 'away'], { expiresInSeconds: 1 });
    expect(await hub.finished(jobId)).toMatchObject({ conclusion: 'PARTIAL' });
    expect(await hub.progress(jobId)).toMatchObject({ succeeded: 1, expired: 1 });
  });

  it('judges again a device whose tools changed while it was awaited', async () => {
    await hub.connect(['changing']);
    await hub.disconnect('changing');
    const jobId = await startJob(hub, ['changing'], {
      tool: 'self.audio_speaker.set_volume',
      arguments: { volume: 60 },
    });
    await hub.clock.until(() => hub.progress(jobId)).toMatchObject({ waitingDevice: 1 });
    const quieter = { type: 'object', properties: { volume: { type: 'integer', maximum: 50 } } };
    await hub.connect(
      ['changing'],
      [{ name: 'self.audio_speaker.set_volume', description: '', inputSchema: quieter, userOnly: false }],
    );
    await hub.finished(jobId);
    expect(hub.gateway.callCount).toBe(0);
    expect(await hub.registry.jobs.failureGroups([jobId], 1)).toMatchObject([
      [{ outcome: 'REJECTED', code: 'ARGUMENTS_INVALID' }],
    ]);
  });

  it('pauses: nothing more is sent, what is under way is recorded, and resume goes on', async () => {
    const { jobId, settles } = await holdFive(30, 'paused');
    expect((await hub.fleet.pauseJob(jobId, admin)).job).toMatchObject({ state: 'PAUSED', pauseReason: 'USER' });
    for (const settle of settles.splice(0)) settle();
    await hub.clock.until(() => hub.progress(jobId)).toMatchObject({ succeeded: 5, inFlight: 0, pending: 25 });
    expect(hub.gateway.callCount).toBe(5);
    hub.gateway.behave = (_, settle) => settle(answers('true'));
    expect((await hub.fleet.resumeJob(jobId, admin)).job).toMatchObject({ state: 'RUNNING', pauseReason: undefined });
    expect(await hub.finished(jobId)).toMatchObject({ conclusion: 'SUCCEEDED' });
    expect(hub.gateway.callCount).toBe(30);
    await expectHonestCounters(jobId);
  });

  it('cancels: never-sent targets end CANCELLED, sent ones are awaited', async () => {
    const { jobId, settles } = await holdFive(30, 'cancelled');
    await hub.fleet.cancelJob(jobId, false, admin);
    await hub.clock.until(() => hub.progress(jobId)).toMatchObject({ cancelled: 25, inFlight: 5 });
    expect(await hub.job(jobId)).toMatchObject({ state: 'CANCELLING' });
    for (const settle of settles) settle();
    expect(await hub.finished(jobId)).toMatchObject({ conclusion: 'CANCELLED' });
    expect(await hub.progress(jobId)).toMatchObject({ succeeded: 5, cancelled: 25 });
    await expectHonestCounters(jobId);
  });

  it('cancelled by force does not wait, and says that what was sent may have run', async () => {
    const { jobId, settles } = await holdFive(8, 'forced');
    const told = new Set<string>();
    const stop = hub.bus.feed.subscribe('decided', ({ jobId: of, deviceIds }) => {
      if (of === jobId) for (const id of deviceIds) told.add(id);
    });
    await hub.fleet.cancelJob(jobId, false, admin);
    await hub.fleet.cancelJob(jobId, true, admin);
    expect(await hub.finished(jobId)).toMatchObject({ conclusion: 'CANCELLED', pauseReason: undefined });
    expect(await hub.progress(jobId)).toMatchObject({ unknown: 5, cancelled: 3 });
    // Who follows the job hears of all that end in bulk.
    await hub.clock.until(() => told.size).toBe(8);
    stop();
    for (const settle of settles) settle();
    await hub.clock.until(() => hub.progress(jobId)).toMatchObject({ unknown: 0, succeeded: 5, cancelled: 3 });
    expect(await hub.job(jobId)).toMatchObject({ conclusion: 'CANCELLED' });
    await expectHonestCounters(jobId);
  });

  it('cancelled by force keeps what devices had answered by then', async () => {
    const { jobId, settles } = await holdFive(5, 'answered');
    for (const settle of settles.slice(0, 3)) settle();
    await hub.fleet.cancelJob(jobId, true, admin);
    await hub.finished(jobId);
    expect(await hub.progress(jobId)).toMatchObject({ succeeded: 3, unknown: 2 });
  });
});
