import { emptyProgress } from '@flotilla/jobs';
import { describe, expect, it } from 'vitest';
import { paceOf } from './job-progress.js';

const startedAt = 1_000_000;
const running = { state: 'RUNNING', startedAt, finishedAt: undefined } as const;

describe('paceOf', () => {
  it('is the decided targets over the time the job has run', () => {
    const progress = { ...emptyProgress, total: 100, succeeded: 30, failed: 10, pending: 50, inFlight: 10 };
    expect(paceOf(running, progress, startedAt + 60_000)).toEqual({
      ratePerMinute: 40,
      estimatedFinishAt: startedAt + 60_000 + 90_000,
    });
  });

  it('stays what it was when the job is finished', () => {
    const progress = { ...emptyProgress, total: 10, succeeded: 10 };
    const job = { state: 'FINISHED', startedAt, finishedAt: startedAt + 30_000 } as const;
    expect(paceOf(job, progress, startedAt + 900_000)).toEqual({ ratePerMinute: 20, estimatedFinishAt: undefined });
  });

  it('estimates nothing while all remaining targets wait for devices', () => {
    const progress = { ...emptyProgress, total: 10, succeeded: 5, waitingDevice: 5 };
    expect(paceOf(running, progress, startedAt + 60_000).estimatedFinishAt).toBeUndefined();
  });

  it('estimates nothing before the first decision or while paused', () => {
    const progress = { ...emptyProgress, total: 10, pending: 10 };
    expect(paceOf(running, progress, startedAt + 60_000)).toEqual({ ratePerMinute: 0, estimatedFinishAt: undefined });
    const paused = { ...running, state: 'PAUSED' } as const;
    expect(
      paceOf(paused, { ...progress, pending: 5, succeeded: 5 }, startedAt + 60_000).estimatedFinishAt,
    ).toBeUndefined();
  });
});
