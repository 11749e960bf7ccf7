/** Edits of recurring jobs over a real database. */
import { randomUUID } from 'node:crypto';
import { liveJobsMax } from '@flotilla/jobs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operator } from '../fleet-fixture.suite.js';
import { RecurringFixture, requestOf, volumeOf } from './recurring-fixture.suite.js';

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
});
