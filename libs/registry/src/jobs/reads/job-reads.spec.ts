import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openJobFixture, type JobFixture } from '../job-fixture.suite.js';
import { newJob } from '../new-job.suite.js';
import type { JobFilter } from './job-reads.js';

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

  it('lists jobs by how and when they ended', async () => {
    const ends = [
      { conclusion: 'FAILED', at: '2026-11-20T12:00:00Z' },
      { conclusion: 'FAILED', at: '2026-11-21T12:00:00Z' },
      { conclusion: 'SUCCEEDED', at: '2026-11-21T12:00:00Z' },
    ];
    const ids: string[] = [];
    for (const { conclusion, at } of ends) {
      const job = newJob();
      await fixture.jobCommands.create(job);
      await fixture.db.query(
        { text: `UPDATE job SET state = 'FINISHED', conclusion = $2::job_conclusion, finished_at = $3 WHERE id = $1` },
        [job.id, conclusion, at],
      );
      ids.push(job.id);
    }
    const found = async (filter: JobFilter) =>
      new Set((await fixture.jobs.page(filter, { first: 50 })).rows.map(({ id }) => String(id)));
    const finishedAfter = Date.parse('2026-11-21T11:59:59Z');
    const [early, late, good] = ids;
    expect(await found({ conclusions: ['FAILED', 'ABORTED'] })).toEqual(new Set([early, late]));
    expect(await found({ finishedAfter })).toEqual(new Set([late, good]));
    expect(await found({ conclusions: ['FAILED'], finishedAfter })).toEqual(new Set([late]));
  });
});
