/** Runs that cannot start, and former runs that are still under way, over a real database. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RecurringJobRow } from '@flotilla/registry';
import { operator } from '../fleet-fixture.suite.js';
import { RecurringFixture, requestOf, volumeOf } from './recurring-fixture.suite.js';

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

  it.each([
    ['one of its devices', ['x'], 'FORBIDDEN', /devices of this key/],
    ['each of its devices', ['x', 'y'], 'NOT_FOUND', /former run/],
  ])('of a key whose scope %s left reports that it may not cancel the former one', async (_what, left, code, text) => {
    const { hub } = fixture;
    const tag = randomUUID();
    await fixture.tag(['x', 'y'], { add: [tag] });
    const job = await fixture.created(offline, await fixture.owner({ tags: [tag] }));
    const { job: former } = await hub.fleet.runRecurringJob(job.id, operator);
    await hub.clock.until(async () => former && (await hub.job(former.id)).state).toBe('RUNNING');
    await fixture.tag(left, { remove: [tag] });
    await fixture.whenDue(job);
    await fixture.runs().runDue();
    const message = expect.stringMatching(text) as string;
    await expect.poll(() => fixture.eventsOf(job)).toMatchObject([{ type: 'recurring_job.failed', code, message }]);
    expect((await fixture.found(job.id)).nextRunAt).toBeGreaterThan(hub.clock.now());
    expect((await fixture.jobsOf(job)).map(({ id }) => id)).toEqual([former?.id]);
    await hub.fleet.deleteRecurringJob(job.id, operator);
  });

  it('with CANCEL_PREVIOUS cancels all that are under way, also when it is started by a person', async () => {
    const { hub } = fixture;
    const owner = await fixture.owner();
    const job = await fixture.created({ ...offline, overlap: 'SKIP' }, owner);
    const started = async () => {
      const { job: run, refusal } = await hub.fleet.runRecurringJob(job.id, owner);
      expect(refusal).toBeUndefined();
      return run;
    };
    const first = await started();
    await hub.fleet.updateRecurringJob(job.id, requestOf({ ...offline, name: job.name }), owner);
    const second = await started();
    if (first !== undefined) expect(await hub.finished(first.id)).toMatchObject({ conclusion: 'CANCELLED' });
    await fixture.whenDue(job);
    await fixture.runs().runDue();
    const [third, ...formers] = await fixture.jobsOf(job);
    expect(third?.conclusion).toBeUndefined();
    // Both were created in one millisecond, so their order is open.
    expect(new Set(formers.map(({ id }) => id))).toEqual(new Set([second?.id, first?.id]));
    expect(formers.map(({ conclusion }) => conclusion)).toEqual(['CANCELLED', 'CANCELLED']);
    await hub.fleet.deleteRecurringJob(job.id, operator);
  });

  const atItsTime = async (job: RecurringJobRow) => {
    await fixture.whenDue(job);
    await fixture.runs().runDue();
    await expect.poll(() => fixture.eventsOf(job)).toMatchObject([{ type: 'recurring_job.failed', code: 'NOT_FOUND' }]);
  };
  const byPerson = async ({ id }: RecurringJobRow) => {
    const answer = await fixture.hub.fleet.runRecurringJob(id, operator);
    expect(answer).toMatchObject({ refusal: { code: 'NOT_FOUND', path: ['id'] } });
  };

  it.each([
    ['at its time', atItsTime],
    ['when a person starts it', byPerson],
  ])('that is refused %s cancels no former one', async (_when, start) => {
    const { hub } = fixture;
    const owner = await fixture.owner();
    const group = await hub.fleet.createDeviceGroup(
      { name: randomUUID(), filter: { ids: ['x'] }, timeZone: undefined, voiceUrl: undefined },
      operator,
    );
    const groupId = 'group' in group ? group.group.id : '';
    const job = await fixture.created({ ...offline, job: volumeOf({ groupId }) }, owner);
    const { job: former } = await hub.fleet.runRecurringJob(job.id, owner);
    await hub.fleet.deleteDeviceGroup(groupId, operator);
    await start(job);
    expect(await fixture.jobsOf(job)).toMatchObject([{ id: former?.id, conclusion: undefined }]);
    await hub.fleet.deleteRecurringJob(job.id, operator);
  });
});
