import { describe, expect, it } from 'vitest';
import { areReadAgain, targetStage } from './target-stage';

describe('the stage of the targets of a job', () => {
  const progress = { total: 12, pending: 12, waitingDevice: 0, inFlight: 0, verifying: 0 };
  const prepared = { state: 'RUNNING', currentWave: 1, progress };

  it('changes when waves are assigned, and with every stage of a target', () => {
    const stages = [
      { ...prepared, state: 'PREPARING', currentWave: 0 },
      prepared,
      { ...prepared, progress: { ...progress, pending: 11, inFlight: 1 } },
      { ...prepared, progress: { ...progress, pending: 11, verifying: 1 } },
      { ...prepared, progress: { ...progress, pending: 11 } },
      { ...prepared, currentWave: 2, progress: { ...progress, pending: 11 } },
    ].map(targetStage);
    expect(new Set(stages).size).toBe(stages.length);
  });

  it('stays the same while nothing changes', () => {
    expect(targetStage({ ...prepared, progress: { ...progress } })).toBe(targetStage(prepared));
  });
});

describe('the rows of targets', () => {
  it('are read again while they are one page, and a long list once the job is finished', () => {
    expect(areReadAgain(100, false)).toBe(true);
    expect(areReadAgain(101, false)).toBe(false);
    expect(areReadAgain(300, true)).toBe(true);
  });
});
