/** The slots of a run that ends while it claims targets, because another process took its job. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobStores } from '@flotilla/registry';
import { CallRules } from '../../calls/call-rules.js';
import {
  admin,
  deviceNames,
  openHub,
  quickVerification,
  silent,
  startJob,
  storeWith,
} from '../../fleet-fixture.suite.js';
import type { HubFixture } from '../../fleet-fixture.suite.js';
import { JobRun } from '../engine/job-run.js';
import { SlotPool } from './slot-pool.js';
import { StatementQueue } from './statement-queue.js';

describe('a run that ends while its claim is under way', () => {
  let fixture: HubFixture;

  beforeAll(async () => {
    fixture = await openHub({ withWorker: false });
    await fixture.hub.connect(deviceNames(10));
  });
  afterAll(() => fixture.close());

  it.each([10, 4])('gives its slots back, of %i in all', async (size) => {
    const { hub } = fixture;
    const jobId = await startJob(hub, deviceNames(10));
    const fence = await hub.registry.targetQueue.takeOwnership(jobId, hub.lease.id);
    if (fence === undefined) throw new TypeError('Not owned.');
    const slots = new SlotPool(hub.clock, size);
    const { targetQueue } = hub.registry;
    const replaced: Partial<JobStores['targetQueue']> = {
      claim: async (...asked) => {
        const claimed = await targetQueue.claim(...asked);
        expect(claimed).toHaveLength(size);
        run.abandon();
        return claimed;
      },
    };
    const registry = { ...hub.registry, targetQueue: storeWith(targetQueue, replaced) };
    const rules = { logger: silent, callRules: new CallRules([]), verification: quickVerification };
    const shared = { slots, statements: new StatementQueue(hub.singleCalls) };
    const run = new JobRun({ ...hub, ...rules, registry }, shared, fence, await hub.job(jobId));
    await hub.clock.during(run.work());
    await hub.clock.until(() => slots.inUse).toBe(0);
    expect(hub.gateway.callCount).toBe(0);
    // Nothing is set aside for the run, which no longer asks.
    expect(slots.take({ id: jobId, priority: 2 }, size, () => undefined)).toBe(size);
    await hub.fleet.cancelJob(jobId, true, admin);
  });
});
