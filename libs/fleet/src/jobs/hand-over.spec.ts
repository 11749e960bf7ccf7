import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answers, deviceNames, openHub, startJob } from '../fleet-fixture.suite.js';
import type { HubFixture, HubProcess } from '../fleet-fixture.suite.js';

describe('a worker that stops', () => {
  let fixture: HubFixture;
  let hub: HubProcess;
  const ids = deviceNames(100);

  beforeEach(async () => {
    fixture = await openHub();
    hub = fixture.hub;
    await hub.connect(ids);
  });
  afterEach(() => fixture.close());

  it('hands its job over after the calls in flight: no device is called twice, none is unknown', async () => {
    const settles: (() => void)[] = [];
    hub.gateway.behave = (_, settle) => void settles.push(() => settle(answers('true')));
    const jobId = await startJob(hub, ids, { maxInFlight: 10 });
    await hub.clock.until(() => hub.gateway.callCount).toBe(10);
    const handedOver = hub.worker.handOver(30_000);
    let isHandedOver = false;
    void handedOver.then(() => (isHandedOver = true));
    await hub.clock.until(() => hub.registry.targetQueue.liveJobs()).toMatchObject([{ ownerIsAlive: true }]);
    expect(isHandedOver).toBe(false);
    for (const settle of settles.splice(0)) settle();
    await hub.clock.during(handedOver);
    expect(await hub.progress(jobId)).toMatchObject({ succeeded: 10, inFlight: 0, unknown: 0 });
    expect(await hub.registry.targetQueue.liveJobs()).toMatchObject([{ id: jobId, owner: undefined }]);

    const successor = await fixture.startAnother();
    await successor.connect(ids);
    await successor.worker.start();
    expect(await successor.finished(jobId)).toMatchObject({ conclusion: 'SUCCEEDED' });
    expect(await successor.progress(jobId)).toMatchObject({ succeeded: 100, unknown: 0 });
    expect(hub.gateway.callCount + successor.gateway.callCount).toBe(100);
  });

  it('leaves calls that do not settle in time to its successor', async () => {
    hub.gateway.behave = () => undefined;
    const jobId = await startJob(hub, ids, { maxInFlight: 10 });
    await hub.clock.until(() => hub.gateway.callCount).toBe(10);
    await hub.clock.during(hub.worker.handOver(1_000));
    const successor = await fixture.startAnother();
    await successor.connect(ids);
    await successor.worker.start();
    await successor.finished(jobId);
    expect(await successor.progress(jobId)).toMatchObject({ succeeded: 90, unknown: 10 });
  });
});
