/** The runs of recurring jobs over a real database and a manual clock. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Actor } from '../actor.js';
import { boardTools } from '../fleet-fixture.suite.js';
import type { HubProcess } from '../fleet-fixture.suite.js';
import { RecurringFixture, requestOf, VOLUME, volumeOf } from './recurring-fixture.suite.js';
import type { RecurringJobRequest } from './recurring-request.js';
import type { RecurringRuns } from './recurring-runs.js';

const HOUR = 3_600_000;

describe('a recurring job', () => {
  let fixture: RecurringFixture;
  let hub: HubProcess;
  let runs: RecurringRuns;
  let actor: Actor;

  beforeAll(async () => {
    fixture = await RecurringFixture.open(['a', 'b']);
    hub = fixture.hub;
  });
  beforeEach(async () => {
    runs = fixture.runs();
    actor = await fixture.owner();
  });
  afterAll(() => fixture.close());

  const ofBoth = (change: Partial<RecurringJobRequest> = {}) =>
    requestOf({ job: volumeOf({ ids: ['a', 'b'] }), ...change });
  const created = (change: Partial<RecurringJobRequest> = {}, by = actor) => fixture.created(ofBoth(change), by);

  it('creates one job at each time, also with several workers', async () => {
    const job = await created();
    await runs.runDue();
    expect(await fixture.jobsOf(job)).toEqual([]);
    for (const expected of [1, 2]) {
      await fixture.whenDue(job);
      await Promise.all([runs.runDue(), fixture.runs().runDue(), fixture.runs().runDue()]);
      const [latest, ...former] = await fixture.jobsOf(job);
      expect(former).toHaveLength(expected - 1);
      expect(latest).toMatchObject({ createdBy: `recurring:${job.name}`, createdById: actor.id, name: job.name });
      if (latest !== undefined) expect(await hub.finished(latest.id)).toMatchObject({ conclusion: 'SUCCEEDED' });
    }
    expect((await fixture.found(job.id)).nextRunAt).toBeGreaterThan(hub.clock.now());
    expect(await fixture.eventTypesOf(job)).toEqual([]);
  });

  it('whose job was created before a crash does not create a second one', async () => {
    const job = await created({ overlap: 'CANCEL_PREVIOUS' });
    await fixture.whenDue(job);
    const before = await fixture.found(job.id);
    await runs.runDue();
    const [first] = await fixture.jobsOf(job);
    // The crash: the job is there, and the time was not advanced.
    await hub.registry.recurringJobs.advance(job.id, (await fixture.found(job.id)).nextRunAt ?? 0, before.nextRunAt);
    await fixture.runs().runDue();
    expect((await fixture.jobsOf(job)).map(({ id }) => id)).toEqual([first?.id]);
    expect((await fixture.jobsOf(job))[0]?.conclusion).not.toBe('CANCELLED');
  });

  it('leaves a run out while the former one is under way, or cancels the former one', async () => {
    await hub.disconnect('a');
    const waiting = { tool: VOLUME, arguments: { volume: 20 }, devices: { ids: ['a'] } };
    const skipping = await created({ job: waiting });
    const cancelling = await created({ job: waiting, overlap: 'CANCEL_PREVIOUS' });
    await fixture.whenDue(skipping);
    await runs.runDue();
    await fixture.whenDue(skipping);
    await runs.runDue();
    expect(await fixture.jobsOf(skipping)).toHaveLength(1);
    await expect.poll(() => fixture.eventTypesOf(skipping)).toEqual(['recurring_job.skipped']);
    const [second, first] = await fixture.jobsOf(cancelling);
    expect(second?.state).not.toBe('FINISHED');
    if (first !== undefined) expect(await hub.finished(first.id)).toMatchObject({ conclusion: 'CANCELLED' });
    expect(await hub.fleet.runRecurringJob(skipping.id, actor)).toMatchObject({ refusal: { code: 'CONFLICT' } });
    for (const job of [skipping, cancelling]) await hub.fleet.deleteRecurringJob(job.id, actor);
    expect(await fixture.jobsOf(skipping)).toHaveLength(1);
    await hub.connect(['a'], boardTools);
  });

  it.each([
    ['SKIP', 0, ['recurring_job.skipped']],
    ['RUN_ONCE', 1, []],
  ] as const)('that missed runs while no worker ran, with %s, runs %i times', async (missed, count, events) => {
    const job = await created({ missed });
    await fixture.whenDue(job, 5 * HOUR);
    await runs.runDue();
    await runs.runDue();
    expect(await fixture.jobsOf(job)).toHaveLength(count);
    await expect.poll(() => fixture.eventTypesOf(job)).toEqual(events);
  });

  it('that waits for the runs of others is late, and not missed', async () => {
    const jobs = await Promise.all([created(), created(), created()]);
    for (const job of jobs) await fixture.whenDue(job);
    const { recurringJobs } = hub.registry;
    // Each takes most of a minute to start, and a round starts one of them.
    const slow = Object.assign(Object.create(recurringJobs) as typeof recurringJobs, {
      due: (at: number) => recurringJobs.due(at, 1),
      findRun: (id: string, dueAt: number) => {
        hub.clock.advance(40_000);
        return recurringJobs.findRun(id, dueAt);
      },
    });
    const busy = fixture.runs(
      Object.assign(Object.create(hub.registry) as typeof hub.registry, { recurringJobs: slow }),
    );
    await busy.runDue();
    const started = async () => {
      for (const { delayMs, wake } of fixture.timers) if (delayMs === 0) wake();
      return (await Promise.all(jobs.map((job) => fixture.jobsOf(job)))).flat().length;
    };
    await expect.poll(started).toBe(3);
  });

  it('is paused when its key is revoked, until it is saved again', async () => {
    const job = await created();
    await hub.registry.apiKeys.revoke(actor.id.slice('KEY:'.length), { at: hub.clock.now(), by: { actor: 'spec' } });
    await fixture.whenDue(job);
    await Promise.all([runs.runDue(), fixture.runs().runDue()]);
    expect(await fixture.jobsOf(job)).toEqual([]);
    expect(await fixture.found(job.id)).toMatchObject({
      enabled: false,
      nextRunAt: undefined,
      pausedReason: 'The key "scheduler" that saved it is not valid any more.',
    });
    await expect.poll(() => fixture.eventTypesOf(job)).toEqual(['recurring_job.paused']);
    const other = await fixture.owner();
    await hub.fleet.updateRecurringJob(job.id, ofBoth({ name: job.name }), other);
    expect(await fixture.found(job.id)).toMatchObject({ enabled: true, pausedReason: undefined });
    await fixture.whenDue(job);
    await runs.runDue();
    expect(await fixture.jobsOf(job)).toHaveLength(1);
  });

  it('ends at its end, and reports a run that was refused', async () => {
    const job = await created({ until: hub.clock.now() + 1.5 * HOUR });
    await fixture.whenDue(job);
    await runs.runDue();
    expect(await fixture.found(job.id)).toMatchObject({ nextRunAt: undefined, enabled: true });
    const group = await hub.fleet.createDeviceGroup(
      { name: randomUUID(), filter: { ids: ['a'] }, timeZone: undefined, voiceUrl: undefined },
      actor,
    );
    const id = 'group' in group ? group.group.id : '';
    const grouped = await created({ job: { tool: VOLUME, arguments: { volume: 20 }, devices: { groupId: id } } });
    await hub.fleet.deleteDeviceGroup(id, actor);
    await fixture.whenDue(grouped);
    await runs.runDue();
    await expect.poll(() => fixture.eventTypesOf(grouped)).toEqual(['recurring_job.failed']);
    expect((await fixture.found(grouped.id)).nextRunAt).toBeGreaterThan(hub.clock.now());
  });
});
