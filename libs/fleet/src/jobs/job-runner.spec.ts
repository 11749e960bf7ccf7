import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answers, deviceNames, mortalRunner, openHub, startJob, storeWith } from '../fleet-fixture.suite.js';
import type { HubFixture } from '../fleet-fixture.suite.js';

describe('the sweep of a worker', () => {
  let fixture: HubFixture;
  const ids = deviceNames(3);

  beforeAll(async () => {
    fixture = await openHub({ withWorker: false });
    await fixture.hub.connect(ids);
  });
  afterAll(() => fixture.close());

  it('keeps a job that this worker took over while the sweep read the live jobs', async () => {
    const { hub } = fixture;
    const settles: (() => void)[] = [];
    hub.gateway.behave = (_, settle) => void settles.push(() => settle(answers('true')));
    let taken: () => void = () => undefined;
    const isTaken = new Promise<void>((resolve) => (taken = resolve));
    const { targetQueue } = hub.registry;
    const liveJobs = async () => {
      const jobs = await targetQueue.liveJobs();
      await isTaken;
      return jobs;
    };
    const runner = mortalRunner(hub, { targetQueue: storeWith(targetQueue, { liveJobs }) });
    const jobId = await startJob(hub, ids, {});
    const swept = runner.sweep();
    await hub.clock.pass(100);
    await runner.drive(jobId);
    await hub.clock.until(() => hub.gateway.callCount).toBe(ids.length);
    taken();
    await hub.clock.during(swept);
    for (const settle of settles) settle();
    await hub.finished(jobId);
    expect(await hub.progress(jobId)).toMatchObject({ succeeded: ids.length, unknown: 0 });
    await hub.clock.during(runner.stop());
  });
});

describe('a worker that hands its jobs over', () => {
  let fixture: HubFixture;

  beforeAll(async () => {
    fixture = await openHub({ withWorker: false });
    await fixture.hub.connect(deviceNames(1));
  });
  afterAll(() => fixture.close());

  it('keeps none that it was just taking over', async () => {
    const { hub } = fixture;
    const { jobCommands, targetQueue } = hub.registry;
    let read: () => void = () => undefined;
    const isRead = new Promise<void>((resolve) => (read = resolve));
    const argumentsOf: typeof jobCommands.argumentsOf = async (jobId) => {
      await isRead;
      return jobCommands.argumentsOf(jobId);
    };
    const runner = mortalRunner(hub, { jobCommands: storeWith(jobCommands, { argumentsOf }) });
    const jobId = await startJob(hub, deviceNames(1));
    const driven = runner.drive(jobId);
    await hub.clock.until(() => targetQueue.liveJobs()).toMatchObject([{ owner: hub.lease.id }]);
    const woken: string[] = [];
    await hub.clock.during(runner.handOver(1_000, async (id) => void woken.push(id)));
    read();
    await hub.clock.during(driven);
    expect(await targetQueue.liveJobs()).toMatchObject([{ id: jobId, owner: undefined }]);
    expect(woken).toEqual([jobId]);
  });
});
