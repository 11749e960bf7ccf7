import type { AbortRule, JobProgress } from '@flotilla/jobs';
import { describe, expect, it } from 'vitest';
import { JobPace } from './job-pace.js';

const zero: JobProgress = {
  ...{
    total: 10_000,
    pending: 0,
    waitingDevice: 0,
    inFlight: 0,
    verifying: 0,
    succeeded: 0,
    noChange: 0,
    failed: 0,
    rejected: 0,
  },
  ...{ verifyFailed: 0, unknown: 0, expired: 0, cancelled: 0, skipped: 0 },
};
const tenth: AbortRule = { outcomes: ['FAILED'], scope: 'JOB', ratio: 0.1, action: 'PAUSE' };
/** 10 sends in 100 ms at its most, where its bucket is full. */
const paced = { perMinute: 6_000, disruptive: false, abortRules: [tenth] };

describe('the pace of a run', () => {
  it('begins with nothing, so that a restart grants nothing twice', () => {
    const pace = new JobPace(paced, 1_000);
    expect(pace.allowed(100, 1_000)).toBe(0);
    expect(pace.allowed(100, 1_050)).toBe(5);
  });

  it('gives what was spent only once, and never saves up more than its bucket holds', () => {
    const pace = new JobPace(paced, 0);
    expect(pace.allowed(100, 60_000)).toBe(10);
    pace.spend(10);
    expect(pace.allowed(100, 60_000)).toBe(0);
    expect(pace.waitMs).toBe(50);
  });

  it('of a disruptive job goes on from its counters, whoever ran it before', () => {
    const pace = new JobPace({ ...paced, disruptive: true }, 0);
    expect(pace.allowed(100, 60_000)).toBe(2);
    pace.observe({ ...zero, succeeded: 3 * 750 }, 60_000);
    expect(pace.allowed(100, 120_000)).toBe(10);
  });

  it('falls back while more fail over a minute than half of what the rules allow, and recovers', () => {
    const pace = new JobPace(paced, 0);
    pace.observe({ ...zero, succeeded: 100 }, 0);
    pace.observe({ ...zero, succeeded: 190, failed: 10 }, 1_000);
    expect(pace.allowed(100, 60_000)).toBe(2);
    pace.observe({ ...zero, succeeded: 500, failed: 10 }, 61_000);
    pace.observe({ ...zero, succeeded: 600, failed: 10 }, 63_000);
    expect(pace.allowed(100, 120_000)).toBe(10);
  });

  it('bounds nothing where none was asked for', () => {
    const pace = new JobPace({ ...paced, perMinute: undefined }, 0);
    expect([pace.isBounded, pace.allowed(500, 0), pace.waitMs]).toEqual([false, 500, 0]);
  });
});
