/** Edits of recurring jobs over a real database. */
import { randomUUID } from 'node:crypto';
import { liveJobsMax } from '@flotilla/jobs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Actor } from '../actor.js';
import { operator } from '../fleet-fixture.suite.js';
import { recurringJobRevision } from './recurring-jobs.js';
import { RecurringFixture, requestOf, volumeOf } from './recurring-fixture.suite.js';
import type { RecurringJobRequest } from './recurring-request.js';

describe('an edit of a recurring job', () => {
  let fixture: RecurringFixture;

  beforeAll(async () => {
    fixture = await RecurringFixture.open(['x'], { withWorker: false });
  });
  afterAll(() => fixture.close());

  it('disables one that can no longer run, and checks every other change', async () => {
    const { fleet } = fixture.hub;
    const group = await fleet.createDeviceGroup(
      { name: randomUUID(), filter: { ids: ['x'] }, timeZone: undefined, voiceUrl: undefined },
      operator,
    );
    const groupId = 'group' in group ? group.group.id : '';
    const plan = requestOf({ job: volumeOf({ groupId }), until: fixture.hub.clock.now() + 7_200_000 });
    const { id } = await fixture.created(plan, operator);
    await fleet.deleteDeviceGroup(groupId, operator);
    // As the API reads it back: with the defaults that it adds.
    const off = { ...plan, job: { ...plan.job, priority: 2, offline: 'WAIT' as const }, enabled: false };
    const refused = { refusal: { code: 'NOT_FOUND', path: ['input', 'job', 'devices'] } };
    expect(await fleet.updateRecurringJob(id, { ...off, enabled: true }, operator)).toMatchObject(refused);
    expect(await fleet.updateRecurringJob(id, { ...off, cron: '@daily' }, operator)).toMatchObject(refused);
    fixture.hub.clock.advance(10_800_000);
    expect(await fleet.updateRecurringJob(id, off, operator)).toMatchObject({ job: { enabled: false } });
    expect(await fixture.found(id)).toMatchObject({ nextRunAt: undefined, until: plan.until });
  });

  it('changes no rights where it only switches it, unless the hub had paused it', async () => {
    const { clock, fleet, registry } = fixture.hub;
    const limited = await fixture.owner({ ids: ['x'] });
    const plan = requestOf({ job: volumeOf({ ids: ['x'] }) });
    const { id } = await fixture.created(plan, limited);
    const off = { ...plan, enabled: false };
    const kept = { savedById: limited.id };
    expect(await fleet.updateRecurringJob(id, off, operator)).toMatchObject({ job: { ...kept, enabled: false } });
    expect(await fleet.updateRecurringJob(id, plan, operator)).toMatchObject({ job: { ...kept, enabled: true } });
    expect(await fleet.updateRecurringJob(id, plan, limited)).toMatchObject({ job: kept });
    const pausedReason = 'The key is gone.';
    await registry.recurringJobs.pause(await fixture.found(id), pausedReason, clock.now(), { actor: 'hub' });
    expect(await fleet.updateRecurringJob(id, off, operator)).toMatchObject({ job: { ...kept, pausedReason } });
    const taken = { savedById: operator.id, pausedReason: undefined };
    expect(await fleet.updateRecurringJob(id, plan, operator)).toMatchObject({ job: taken });
    const other = await fixture.owner();
    const changed = { ...off, cron: '@daily' };
    expect(await fleet.updateRecurringJob(id, changed, other)).toMatchObject({ job: { savedById: other.id } });
  });

  it('leaves a run that is due, unless it changes the times, or another person makes it', async () => {
    const { fleet } = fixture.hub;
    const [owner, other] = [await fixture.owner(), await fixture.owner()];
    const runs = fixture.runs();
    const rowsAfter = async (change: Partial<RecurringJobRequest>, by: Actor) => {
      const recurring = await fixture.created({}, owner);
      await fixture.whenDue(recurring);
      const edit = requestOf({ name: recurring.name, job: { ...volumeOf({ ids: ['x'] }), priority: 1 }, ...change });
      expect(await fleet.updateRecurringJob(recurring.id, edit, by)).toHaveProperty('job');
      await runs.runDue();
      const found = await fixture.jobsOf(recurring);
      await fleet.deleteRecurringJob(recurring.id, operator);
      for (const { id } of found) await fleet.cancelJob(id, false, operator);
      return found.map(({ priority }) => priority);
    };
    expect(await rowsAfter({}, owner)).toEqual([1]);
    expect(await rowsAfter({ cron: '30 * * * *' }, owner)).toEqual([]);
    expect(await rowsAfter({}, other)).toEqual([]);
    await runs.stop();
  });

  it('does not count the jobs that are live now', async () => {
    const { fleet, registry } = fixture.hub;
    await fixture.hub.disconnect('x');
    const job = await fixture.created({ job: volumeOf({ ids: ['x'] }) }, operator);
    const live = await registry.jobs.liveCount();
    for (let number = live; number < liveJobsMax; number += 1)
      await fleet.createJob(volumeOf({ ids: ['x'] }), randomUUID(), operator);
    expect(await fleet.createJob(volumeOf({ ids: ['x'] }), randomUUID(), operator)).toMatchObject({
      refusal: { code: 'LIMIT_EXCEEDED' },
    });
    const edit = requestOf({ name: job.name, job: volumeOf({ ids: ['x'] }), cron: '@daily' });
    expect(await fleet.updateRecurringJob(job.id, edit, operator)).toMatchObject({ job: { cron: '@daily' } });
  });

  it('is refused where it was made from another revision, also one before a pause', async () => {
    const { clock, fleet, registry } = fixture.hub;
    const plan = requestOf({ job: volumeOf({ ids: ['x'] }) });
    const job = await fixture.created(plan, operator);
    const edit = (cron: string, expected?: string) =>
      fleet.updateRecurringJob(job.id, { ...plan, cron }, operator, expected);
    const first = recurringJobRevision(job);
    await fixture.whenDue(job);
    await registry.recurringJobs.advance(job.id, job.nextRunAt ?? 0, clock.now() + 60_000);
    expect(recurringJobRevision(await fixture.found(job.id))).toBe(first);
    expect(await edit('1 * * * *', first)).toMatchObject({ job: { cron: '1 * * * *' } });
    const conflict = { refusal: { code: 'CONFLICT', path: ['expectedRevision'] } };
    expect(await edit('2 * * * *', first)).toMatchObject(conflict);
    const second = await fixture.found(job.id);
    await registry.recurringJobs.pause(second, 'The key is gone.', clock.now(), { actor: 'hub' });
    expect(await edit('3 * * * *', recurringJobRevision(second))).toMatchObject(conflict);
    expect(await fixture.found(job.id)).toMatchObject({ cron: '1 * * * *', enabled: false });
    expect(await edit('4 * * * *')).toMatchObject({ job: { cron: '4 * * * *' } });
  });

  it('loses to one that is saved at the same time', async () => {
    const plan = requestOf({ job: volumeOf({ ids: ['x'] }) });
    const job = await fixture.created(plan, operator);
    const expected = recurringJobRevision(job);
    const answers = await Promise.all(
      ['1 * * * *', '2 * * * *', '3 * * * *'].map((cron) =>
        fixture.hub.fleet.updateRecurringJob(job.id, { ...plan, cron }, operator, expected),
      ),
    );
    expect(answers.filter((answer) => 'job' in answer)).toHaveLength(1);
  });
});
