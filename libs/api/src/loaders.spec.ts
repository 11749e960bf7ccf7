import { expect, it } from 'vitest';
import type { FleetView } from '@flotilla/registry';
import { makeLoaders, type FleetWideLookUps } from './loaders.js';

it('reads the roll-out of a desired state and the last job of a recurring job once per operation', async () => {
  const asked: string[] = [];
  const jobs = {
    find: async (id: string) => void asked.push(id),
    page: async ({ recurringJobId = '' }) => ({ rows: [], cursors: [], hasNextPage: asked.push(recurringJobId) === 0 }),
  };
  const loaders = makeLoaders({ jobs } as unknown as FleetView, {} as FleetWideLookUps);
  const id = '01a22298-c13c-7000-8000-0377b650b5be';
  await Promise.all([loaders.rollout.load(id), loaders.rollout.load(id), loaders.lastJob.load('nightly')]);
  await loaders.lastJob.load('nightly');
  expect(asked).toEqual([id, 'nightly']);
});
