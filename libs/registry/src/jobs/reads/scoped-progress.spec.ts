import type { JobProgress } from '@flotilla/jobs';
import type { JobId } from '@flotilla/mcp';
import { describe, expect, it } from 'vitest';
import { ScopedProgress, type WaveProgress } from './scoped-progress.js';

const scope = { within: { tags: ['lab'] }, creator: 'KEY:1' };
const [one, two] = ['job-1', 'job-2'] as [JobId, JobId];

const waves = (pending: number, succeeded: number): WaveProgress => {
  const none = {
    waitingDevice: 0,
    inFlight: 0,
    verifying: 0,
    noChange: 0,
    failed: 0,
    rejected: 0,
    verifyFailed: 0,
    unknown: 0,
  };
  const progress: JobProgress = {
    ...none,
    expired: 0,
    cancelled: 0,
    skipped: 0,
    total: pending + succeeded,
    pending,
    succeeded,
  };
  return new Map([[0, progress]]);
};

/** Jobs of ten targets, five of which are seen; each count takes `tookMs`. */
function stage(tookMs = 100) {
  const state = { now: 0, pending: 10, counts: [] as (readonly JobId[])[], fails: false };
  const progress = new ScopedProgress({
    now: () => state.now,
    whole: async (ids) => ids.map(() => waves(state.pending, 10 - state.pending)),
    counted: async (ids) => {
      state.counts.push(ids);
      const seen = ids.map(() => waves(state.pending / 2, 5 - state.pending / 2));
      await Promise.resolve();
      state.now += tookMs;
      if (state.fails) throw new Error('PostgreSQL is away');
      return seen;
    },
  });
  const succeeded = async (...ids: JobId[]) => (await progress.of(ids, scope)).map((each) => each.get(0)?.succeeded);
  return { state, progress, succeeded };
}

describe('the progress that a narrowed viewer sees', () => {
  it('is counted once for concurrent callers, and again after twenty times its duration', async () => {
    const { state, succeeded } = stage();
    expect(await Promise.all([succeeded(one), succeeded(one), succeeded(one)])).toEqual([[0], [0], [0]]);
    state.pending = 6;
    state.now += 1_800;
    expect(await succeeded(one)).toEqual([0]);
    state.now += 100;
    expect(await succeeded(one)).toEqual([2]);
    expect(state.counts).toEqual([[one], [one]]);
  });

  it('is at its end what it is, however young the last count', async () => {
    const { state, succeeded } = stage();
    expect(await succeeded(one)).toEqual([0]);
    state.pending = 0;
    expect([await succeeded(one), await succeeded(one)]).toEqual([[5], [5]]);
    expect(state.counts).toHaveLength(2);
  });

  it('is counted for several jobs with one statement, and only for those that need it', async () => {
    const { state, succeeded } = stage();
    await succeeded(one);
    expect(await succeeded(two, one)).toEqual([0, 0]);
    expect(state.counts).toEqual([[one], [two]]);
  });

  it('is another for another narrowing, and counted again after a failure', async () => {
    const { state, progress, succeeded } = stage();
    state.fails = true;
    await expect(succeeded(one)).rejects.toThrow('away');
    state.fails = false;
    expect(await succeeded(one)).toEqual([0]);
    await progress.of([one], { within: { tags: ['office'] }, creator: 'KEY:1' });
    expect(state.counts).toHaveLength(3);
  });
});
