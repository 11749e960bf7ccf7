import { expect, it } from 'vitest';
import type { ApiContext } from '../api-context.js';
import { JobListResolver } from './job-list.resolver.js';

it('takes at most 100 reasons of pauses: each job is compared with all', async () => {
  const view = { jobs: { page: async () => ({ rows: [], cursors: [], hasNextPage: false }) } };
  const context = { view } as unknown as ApiContext;
  const jobsWithout = (length: number) => {
    const filter = { exceptPauseReasons: Array.from({ length }, String) };
    return new JobListResolver().jobs(undefined, { filter, first: 1 }, context);
  };
  await expect(jobsWithout(100)).resolves.toMatchObject({ nodes: [] });
  await expect(jobsWithout(101)).rejects.toThrow('"exceptPauseReasons" of a job filter takes at most 100');
});
