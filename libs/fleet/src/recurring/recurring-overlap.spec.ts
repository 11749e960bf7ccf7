/** Runs that cannot start, and former runs that are still under way, over a real database. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operator } from '../fleet-fixture.suite.js';
import { RecurringFixture, volumeOf } from './recurring-fixture.suite.js';

describe('a run of a recurring job', () => {
  let fixture: RecurringFixture;
  const offline = { job: volumeOf({ ids: ['x', 'y'] }), overlap: 'CANCEL_PREVIOUS' } as const;

  beforeAll(async () => {
    fixture = await RecurringFixture.open(['x', 'y']);
    for (const id of ['x', 'y']) await fixture.hub.disconnect(id);
  });
  afterAll(() => fixture.close());

  it('that cannot be written waits for the next sweep, and keeps its time', async () => {
    const { hub } = fixture;
    const job = await fixture.created(offline, await fixture.owner());
    const full = () => Promise.reject(new TypeError('No space left on device.'));
    const recurringJobs = new Proxy(hub.registry.recurringJobs, {
      get: (store, name) => {
        const method = Reflect.get(store, name) as (...args: unknown[]) => unknown;
        return name === 'advance' ? full : method.bind(store);
      },
    });
    await fixture.whenDue(job);
    await fixture.runs({ ...hub.registry, recurringJobs }).runDue();
    expect([...fixture.timers]).toEqual([]);
    await fixture.runs().runDue();
    expect(await fixture.jobsOf(job)).toHaveLength(1);
    expect((await fixture.found(job.id)).nextRunAt).toBeGreaterThan(hub.clock.now());
    await hub.fleet.deleteRecurringJob(job.id, operator);
  });
});
