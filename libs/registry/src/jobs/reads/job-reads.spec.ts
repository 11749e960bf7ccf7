import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openJobFixture, type JobFixture } from '../job-fixture.suite.js';
import { newJob } from '../new-job.suite.js';

const FLEET = 30;

describe('reads of jobs', () => {
  let fixture: JobFixture;

  beforeAll(async () => {
    fixture = await openJobFixture();
    await fixture.addDevices(FLEET);
  });
  afterAll(() => fixture.close());

  it('lists jobs latest first, by state, tool and text', async () => {
    const named = newJob({ name: 'Quiet_100% night', tool: 'self.audio_speaker.set_volume' });
    await fixture.jobCommands.create(named);
    expect((await fixture.jobs.page({ search: '_100%' }, { first: 5 })).rows.map((job) => job.id)).toEqual([named.id]);
    expect(
      (
        await fixture.jobs.page({ tool: 'self.audio_speaker.set_volume', states: ['PREPARING'] }, { first: 5 })
      ).rows.map((job) => job.id),
    ).toEqual([named.id]);
    for (let more = 0; more < 3; more += 1) await fixture.jobCommands.create(newJob());
    const first = await fixture.jobs.page({}, { first: 2 });
    const second = await fixture.jobs.page({}, { first: 2, after: first.cursors[1] ?? '' });
    expect(second.rows).toHaveLength(2);
    expect(second.rows.some((job) => first.rows.some(({ id }) => id === job.id))).toBe(false);
  });
});
