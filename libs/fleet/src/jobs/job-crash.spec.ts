import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { admin, answers, deviceNames, mortalRunner, openHub, startJob } from '../fleet-fixture.suite.js';
import type { HubFixture, HubProcess } from '../fleet-fixture.suite.js';

describe('a job whose hub process dies', () => {
  let fixture: HubFixture;
  let hub: HubProcess;
  const ids = deviceNames(200);

  beforeEach(async () => {
    fixture = await openHub({ withWorker: false });
    hub = fixture.hub;
    await hub.connect(ids);
  });
  afterEach(() => fixture.close());

  it.each([
    ['never calls a device twice with a tool that must not run twice', 'self.lamp.turn_on', 1],
    ['calls again with a tool that may, and ends with an outcome for all', 'self.get_device_status', 2],
  ])('%s', async (_, tool, callsMost) => {
    // Some answer, some stay silent, and the crash is in the middle of a batch, so that it finds
    // targets in every state.
    const runner = mortalRunner(hub);
    let count = 0;
    hub.gateway.behave = (_routed, settle) => {
      count += 1;
      if (count === 70) runner.abandon();
      if (count % 3 !== 0) hub.clock.setTimer(count % 7, () => settle(answers('true')));
    };
    const jobId = await startJob(hub, ids, { tool, maxInFlight: 40 });
    await runner.drive(jobId);
    await hub.clock.until(() => hub.gateway.callCount).toBe(70);

    const successor = await fixture.startAnother();
    await successor.connect(ids);
    await successor.worker.start();
    const job = await successor.finished(jobId);
    const calls = ids.map(
      (id) =>
        (hub.gateway.callsByDevice.get(id as never) ?? 0) + (successor.gateway.callsByDevice.get(id as never) ?? 0),
    );
    expect(Math.max(...calls)).toBeLessThanOrEqual(callsMost);
    expect(await successor.registry.jobCommands.reconcile(jobId)).toBe(0);
    const progress = await successor.progress(jobId);
    expect(progress.succeeded + progress.unknown).toBe(200);
    if (callsMost === 1) {
      expect(job.conclusion).toBe('PARTIAL');
      expect(progress.unknown).toBeGreaterThan(0);
      expect(await successor.registry.jobs.failureGroups([jobId], 5)).toMatchObject([
        [{ outcome: 'UNKNOWN', code: 'HUB_RESTARTED' }],
      ]);
    } else {
      expect(progress.succeeded).toBe(200);
    }
  });

  it('sends and writes nothing once its lease is gone, even with its loop still running', async () => {
    const settles: (() => void)[] = [];
    hub.gateway.behave = (_, settle) => settles.push(() => settle(answers('true')));
    const runner = mortalRunner(hub);
    const jobId = await startJob(hub, ids, { maxInFlight: 10 });
    await runner.drive(jobId);
    await hub.clock.until(() => hub.gateway.callCount).toBe(10);

    const successor = await fixture.startAnother();
    await successor.worker.start();
    await hub.clock.until(() => successor.progress(jobId)).toMatchObject({ unknown: 10, inFlight: 0 });
    for (const settle of settles.splice(0)) settle();
    // The successor's gateway holds no session, so nothing may be sent by anybody from here on.
    await hub.clock.during(runner.stop());
    expect(hub.gateway.callCount).toBe(10);
    expect(await successor.progress(jobId)).toMatchObject({ unknown: 10, succeeded: 0 });
  });

  it('is taken over while it is being cancelled, and still ends CANCELLED', async () => {
    hub.gateway.behave = () => undefined;
    const runner = mortalRunner(hub);
    const jobId = await startJob(hub, ids, { maxInFlight: 10 });
    await runner.drive(jobId);
    await hub.clock.until(() => hub.gateway.callCount).toBe(10);
    await hub.fleet.cancelJob(jobId, false, admin);
    runner.abandon();
    const successor = await fixture.startAnother();
    await successor.worker.start();
    expect(await successor.finished(jobId)).toMatchObject({ conclusion: 'CANCELLED' });
    expect(await successor.progress(jobId)).toMatchObject({ unknown: 10, cancelled: 190 });
  });
});

describe('a job in a hub of several processes', () => {
  it('obeys a pause made in a process that does not own it, even when the notification is lost', async () => {
    const fixture = await openHub();
    const { hub } = fixture;
    const ids = deviceNames(50);
    await hub.connect(ids);
    hub.gateway.behave = (_, settle) => hub.clock.setTimer(100, () => settle(answers('true')));
    const jobId = await startJob(hub, ids, { maxInFlight: 1 });
    await hub.clock.until(() => hub.gateway.callCount).toBeGreaterThan(0);
    const job = await hub.job(jobId);
    expect(
      await hub.registry.jobCommands.transition(job, { state: 'PAUSED', pauseReason: 'USER' }, hub.clock.now()),
    ).toBeDefined();
    await hub.clock.until(() => hub.gateway.inFlight).toBe(0);
    await hub.clock.until(() => hub.progress(jobId)).toMatchObject({ inFlight: 0 });
    const { pending } = await hub.progress(jobId);
    expect(pending).toBeGreaterThan(40);
    await fixture.close();
  });
});
