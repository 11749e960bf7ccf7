/** A worker whose tick queue has lost everything finds the work in PostgreSQL. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answers, deviceNames, openHub, quickVerification, silent, startJob } from '../fleet-fixture.suite.js';
import type { HubFixture } from '../fleet-fixture.suite.js';
import { CallRules } from '../calls/call-rules.js';
import { TickWorker } from './tick-worker.js';

describe('a worker without ticks', () => {
  let fixture: HubFixture;
  const ids = deviceNames(3);

  beforeAll(async () => {
    fixture = await openHub({ withWorker: false });
    await fixture.hub.connect(ids);
  });
  afterAll(() => fixture.close());

  it('sweeps by itself, again and again', async () => {
    const { bus, clock, gateway, lease, registry, rollout, singleCalls } = fixture.hub;
    gateway.behave = (_, settle) => settle(answers('true'));
    const nothing = async () => undefined;
    const ticks = { ...bus.ticks, add: nothing, work: nothing, repeat: nothing, rest: nothing };
    const worker = new TickWorker({
      registry,
      clock,
      logger: silent,
      callRules: new CallRules([]),
      singleCalls,
      lease,
      rollout,
      bus: { ...bus, ticks },
      verification: quickVerification,
    });
    await worker.start();
    for (const tool of ['self.lamp.turn_on', 'self.get_device_status']) {
      const jobId = await startJob(fixture.hub, ids, { tool });
      expect((await fixture.hub.finished(jobId)).conclusion).toBe('SUCCEEDED');
    }
    await clock.during(worker.stop());
  });
});
