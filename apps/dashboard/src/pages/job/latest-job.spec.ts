import { describe, expect, it } from 'vitest';
import { latestJob } from './latest-job';

const running = { id: 'job-1', state: 'RUNNING', decided: 3 } as const;
const finished = { id: 'job-1', state: 'FINISHED', decided: 8 } as const;

describe('the shown value of a job', () => {
  it('is the next one while the job runs, and its end', () => {
    expect(latestJob(undefined, running)).toBe(running);
    expect(latestJob({ ...running, decided: 2 }, running)).toBe(running);
    expect(latestJob<typeof running | typeof finished>(running, finished)).toBe(finished);
  });

  it('stays finished when the answer of an earlier query arrives late', () => {
    expect(latestJob<typeof running | typeof finished>(finished, running)).toBe(finished);
  });

  it('is replaced by a late outcome of a finished job, and by another job', () => {
    const corrected = { ...finished, decided: 9 };
    expect(latestJob<typeof finished | typeof corrected>(finished, corrected)).toBe(corrected);
    const other = { ...running, id: 'job-2' } as const;
    expect(latestJob<typeof finished | typeof other>(finished, other)).toBe(other);
  });
});
