import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobId } from '@flotilla/mcp';
import { v7 } from 'uuid';
import type { NewJob } from '../commands/new-job.js';
import { openJobFixture, type JobFixture } from '../job-fixture.suite.js';
import { createJob, newJob } from '../new-job.suite.js';
import type { Queryable } from '../../database/database.js';
import { JobReads, type JobFilter } from './job-reads.js';

const FLEET = 30;
/** Copies of a finished job, long ago. */
const LONG_HISTORY = `
  INSERT INTO job
  SELECT copy.* FROM (SELECT * FROM job WHERE state = 'FINISHED' LIMIT 1) j, generate_series(1, 3000) n,
    jsonb_populate_record(j::job, jsonb_build_object('id', gen_random_uuid(), 'idempotency_key', 'history ' || n,
      'finished_at', '2026-01-01T00:00:00Z')) copy`;

describe('reads of jobs', () => {
  let fixture: JobFixture;

  beforeAll(async () => {
    fixture = await openJobFixture();
    await fixture.addDevices(FLEET);
  });
  afterAll(() => fixture.close());

  it('lists jobs latest first, by state, tool and text', async () => {
    const named = newJob({ name: 'Quiet_100% night', tool: 'self.audio_speaker.set_volume' });
    await createJob(fixture.jobCommands, named);
    expect((await fixture.jobs.page({ search: '_100%' }, { first: 5 })).rows.map((job) => job.id)).toEqual([named.id]);
    expect(
      (
        await fixture.jobs.page({ tool: 'self.audio_speaker.set_volume', states: ['PREPARING'] }, { first: 5 })
      ).rows.map((job) => job.id),
    ).toEqual([named.id]);
    for (let more = 0; more < 3; more += 1) await createJob(fixture.jobCommands, newJob());
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
      await createJob(fixture.jobCommands, job);
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
    expect(await fixture.jobs.count({ conclusions: ['FAILED'], finishedAfter })).toBe(1);
    expect(await fixture.jobs.count({ conclusions: ['FAILED', 'ABORTED'] })).toBe(2);
  });

  it('lists a job by its conclusion once it has finished, not while its last calls end', async () => {
    const job = newJob({ tool: 'self.cancelling' });
    const made = await createJob(fixture.jobCommands, job);
    if (made.kind !== 'created') throw new TypeError(made.kind);
    const filter: JobFilter = { tool: job.tool, conclusions: ['CANCELLED'] };
    const move = { state: 'CANCELLING', conclusion: 'CANCELLED' } as const;
    const moved = await fixture.jobCommands.transition(made.job, move, Date.now());
    expect((await fixture.jobs.page(filter, { first: 5 })).rows).toEqual([]);
    expect(await fixture.jobs.count(filter)).toBe(0);
    if (moved !== undefined)
      await fixture.jobCommands.transition(moved.job, { ...move, state: 'FINISHED' }, Date.now());
    expect((await fixture.jobs.page(filter, { first: 5 })).rows.map(({ id }) => id)).toEqual([job.id]);
  });

  it('says at once which of several jobs a viewer with an access scope would steer beyond it', async () => {
    const devices = { ids: ['device-0000000'] };
    const later = () => v7({ msecs: Date.now() + 1_000 }) as JobId;
    const made = async (change: Partial<NewJob>) => {
      const job = newJob({ id: later(), devices, ...change });
      await createJob(fixture.jobCommands, job);
      return job;
    };
    const counted = async (change: Partial<NewJob>) => {
      const id = later();
      await fixture.runningJob({ id, devices, ...change });
      return { id, createdById: 'KEY:spec' };
    };
    const jobs = [
      await counted({}),
      await counted({ devices: { all: true } }),
      await made({}),
      await made({ createdById: 'KEY:narrow' }),
    ];
    const scope = { within: devices, creator: 'KEY:narrow' };
    expect(await fixture.jobs.haveTargetsOutside(jobs, scope)).toEqual([false, true, true, false]);
    expect(await fixture.jobs.haveTargetsOutside(jobs)).toEqual([false, false, false, false]);
  });

  it('finds what ended a short time ago by an index, not among all jobs', async () => {
    const plans: string[] = [];
    const explained = {
      query: async ({ text }: { readonly text: string }, values: unknown[]) => {
        const rows = await fixture.db.query<{ 'QUERY PLAN': string }>({ text: `EXPLAIN ${text}` }, values);
        plans.push(...rows.map((row) => row['QUERY PLAN']));
        return [];
      },
    } as unknown as Queryable;
    await fixture.db.query({ text: LONG_HISTORY }, []);
    await fixture.db.query({ text: 'ANALYZE job' }, []);
    const finishedAfter = Date.parse('2026-11-21T11:59:59Z');
    await new JobReads(explained).page({ conclusions: ['FAILED'], finishedAfter }, { first: 5 });
    expect(plans.join('\n')).toContain('job_finished_at_idx');
  });

  it('leaves out jobs that are paused for some reasons, and counts the others', async () => {
    const pausedFor = async (reason: string) => {
      const job = newJob({ tool: 'self.paused' });
      await createJob(fixture.jobCommands, job);
      const text = `UPDATE job SET state = 'PAUSED', pause_reason = $2::pause_reason WHERE id = $1`;
      await fixture.db.query({ text }, [job.id, reason]);
      return job.id;
    };
    const stopped = await pausedFor('ABORT_RULE');
    await pausedFor('WINDOW_CLOSED');
    const awaiting = newJob({ tool: 'self.paused' });
    await createJob(fixture.jobCommands, awaiting);
    const filter: JobFilter = { tool: 'self.paused', exceptPauseReasons: ['WINDOW_CLOSED'] };
    const { rows } = await fixture.jobs.page(filter, { first: 5 });
    expect(new Set(rows.map(({ id }) => id))).toEqual(new Set([awaiting.id, stopped]));
    expect(await fixture.jobs.count(filter)).toBe(2);
    expect(await fixture.jobs.count({ tool: 'self.paused', states: ['PAUSED'] })).toBe(2);
  });
});
