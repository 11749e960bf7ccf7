import { emptyProgress } from '@flotilla/jobs';
import { describe, expect, it } from 'vitest';
import { paceOf, waveView } from './job-progress.js';

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

  it('leaves out targets that ended without a call, as most of them do at once when the job is prepared', () => {
    const called = { succeeded: 30, failed: 10, pending: 50, inFlight: 10 };
    const progress = { ...emptyProgress, ...called, total: 1_000, rejected: 500, skipped: 400 };
    const pace = { ratePerMinute: 40, estimatedFinishAt: startedAt + 60_000 + 90_000 };
    expect(paceOf(running, progress, startedAt + 60_000)).toEqual(pace);
    // Of a roll-out, also devices that had the version already.
    const rollout = { ...running, firmwareImageId: 'image' };
    expect(paceOf(rollout, { ...progress, noChange: 300 }, startedAt + 60_000)).toEqual(pace);
    expect(paceOf(running, { ...progress, noChange: 20 }, startedAt + 60_000).ratePerMinute).toBe(60);
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

describe('waveView', () => {
  const wave = { number: 1, size: 100, gate: 'MANUAL', successThreshold: 0.95, soakSeconds: 0 } as const;
  const opened = { ...wave, openedAt: startedAt, closedAt: undefined, approvedBy: undefined };

  it('has the share of successes as the gate counts it, without devices that had the value already', () => {
    const progress = { ...emptyProgress, total: 100, noChange: 70, skipped: 10, succeeded: 19, failed: 1 };
    expect(waveView(opened, progress)).toMatchObject({ decided: 100, succeeded: 19, successShare: 0.95 });
  });

  it('has no share before a target is decided, and where all are neutral', () => {
    for (const counts of [{ pending: 100 }, { noChange: 100 }])
      expect(waveView(opened, { ...emptyProgress, total: 100, ...counts }).successShare).toBeUndefined();
  });
});
