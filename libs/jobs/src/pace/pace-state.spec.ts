import { describe, expect, it } from 'vitest';
import type { AbortRule } from '../abort/abort-rule.js';
import { sumOf } from '../job-progress.js';
import { allowedNow, observed, spent, startPace, waitForPaceMs } from './pace-state.js';

const tenth: AbortRule = { outcomes: ['FAILED'], scope: 'JOB', ratio: 0.1, action: 'PAUSE' };
/** 10 sends in 100 ms at most, which is what its bucket holds. */
const job = { perMinute: 6_000, disruptive: false, abortRules: [tenth] };
const zero = { ...sumOf([]), total: 10_000 };
const limitAt = (pace: ReturnType<typeof startPace>, now: number, paced = job): number =>
  allowedNow(pace, paced, 100, now).limit;

describe('the pace of a run', () => {
  it('begins with nothing, so that a restart grants nothing twice', () => {
    const pace = startPace(1_000);
    expect(limitAt(pace, 1_000)).toBe(0);
    expect(limitAt(pace, 1_050)).toBe(5);
  });

  it('grants each send once, and saves no more than its bucket holds', () => {
    const { limit, pace } = allowedNow(startPace(0), job, 100, 60_000);
    expect(limit).toBe(10);
    const empty = spent(pace, job, limit);
    expect(limitAt(empty, 60_000)).toBe(0);
    expect(waitForPaceMs(empty, job)).toBe(50);
  });

  it('of a disruptive job continues from its counters after a takeover', () => {
    const disruptive = { ...job, disruptive: true };
    const pace = startPace(0);
    expect(limitAt(pace, 60_000, disruptive)).toBe(2);
    const later = observed(pace, disruptive, { ...zero, succeeded: 3 * 750 }, 60_000);
    expect(limitAt(later, 120_000, disruptive)).toBe(10);
  });

  it('falls back while more fail in a minute than half of what the rules allow, and recovers', () => {
    const first = observed(startPace(0), job, { ...zero, succeeded: 100 }, 0);
    const failing = observed(first, job, { ...zero, succeeded: 190, failed: 10 }, 1_000);
    expect(limitAt(failing, 60_000)).toBe(2);
    const minuteLater = observed(failing, job, { ...zero, succeeded: 500, failed: 10 }, 61_000);
    const recovered = observed(minuteLater, job, { ...zero, succeeded: 600, failed: 10 }, 63_000);
    expect(limitAt(recovered, 120_000)).toBe(10);
  });

  it('compares with what was a minute ago, and not with what was before', () => {
    const samples = [0, 30_000, 60_000, 90_000, 120_000];
    const pace = samples.reduce(
      (before, at) => observed(before, job, { ...zero, succeeded: at / 10, failed: at > 60_000 ? 400 : 0 }, at),
      startPace(0),
    );
    expect(pace.isFailing).toBe(true);
    const later = observed(pace, job, { ...zero, succeeded: 15_000, failed: 400 }, 151_000);
    expect(later.isFailing).toBe(false);
    expect(observed(later, job, { ...zero, succeeded: 15_020, failed: 410 }, 211_000).isFailing).toBe(true);
  });

  it('bounds nothing in a job without one', () => {
    const free = { ...job, perMinute: undefined };
    const pace = startPace(0);
    expect(allowedNow(pace, free, 500, 0)).toEqual({ limit: 500, pace });
    expect(waitForPaceMs(pace, free)).toBe(0);
    expect(spent(pace, free, 500)).toBe(pace);
  });
});
