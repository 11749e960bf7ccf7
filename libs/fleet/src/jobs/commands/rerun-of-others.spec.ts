/** A key with a device filter and a job of another owner: it sees some targets of it, not all. */
import { randomUUID } from 'node:crypto';
import type { JobId } from '@flotilla/mcp';
import { createJob, newJob } from '@flotilla/registry/new-job';
import { v7 } from 'uuid';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Actor } from '../../actor.js';
import { admin, openHub } from '../../fleet-fixture.suite.js';
import type { HubFixture, HubProcess } from '../../fleet-fixture.suite.js';

const limited = { ...admin, id: 'KEY:limited', name: 'limited', devices: { tags: ['site'] } };
const [old, late] = ['site-old', 'site-late'] as const;

let fixture: HubFixture;
let hub: HubProcess;

beforeAll(async () => {
  fixture = await openHub({ withWorker: false });
  hub = fixture.hub;
  await hub.connect([old]);
  await hub.connect([late]);
  await hub.disconnect(late);
});
afterAll(() => fixture.close());

/** The next millisecond of PostgreSQL, which dates tags. */
const tick = async () => {
  const now = Date.now();
  await expect.poll(() => Date.now(), { interval: 1 }).toBeGreaterThan(now + 1);
};
const tag = async (deviceId: string) => {
  await hub.registry.devices.tag({ ids: [deviceId] }, { add: ['site'], remove: [], tagsMax: 9 });
  await tick();
};

/** A finished job in which the online device is READY and the other one is SKIPPED. */
async function jobOfAnother(): Promise<JobId> {
  const { jobCommands, jobs, targetPreparation, targetQueue } = hub.registry;
  const id = v7() as JobId;
  await createJob(jobCommands, newJob({ id, devices: { ids: [old, late] }, createdById: admin.id, offline: 'SKIP' }));
  const fence = await targetQueue.takeOwnership(id, hub.lease.id);
  if (fence === undefined) throw new TypeError('The new job has an owner.');
  await targetPreparation.prepareChunk(fence, [], 10, Date.now());
  await targetPreparation.freeze(fence, []);
  await targetQueue.endNeverSent(fence, 'CANCELLED', Date.now());
  const prepared = await jobs.find(id);
  if (prepared !== undefined)
    await jobCommands.transition(prepared, { state: 'FINISHED', conclusion: 'FAILED' }, Date.now());
  await tick();
  return id;
}

it('runs again only for devices whose targets the key sees', async () => {
  await tag(old);
  const id = await jobOfAnother();
  await tag(late);
  const seen = await hub.registry.viewFor(limited).jobs.targets([id], {}, { first: 9 });
  expect(seen[0]?.rows).toMatchObject([{ deviceId: old, outcome: 'CANCELLED' }]);
  const again = (outcomes: readonly ('CANCELLED' | 'SKIPPED')[], actor: Actor = limited) =>
    hub.fleet.rerunJob(id, { outcomes }, randomUUID(), actor);
  expect((await again(['SKIPPED'])).refusal?.code).toBe('INVALID');
  expect((await again(['SKIPPED'], admin)).job?.parentJobId).toBe(id);
  expect((await again(['CANCELLED'])).job?.parentJobId).toBe(id);
  const both = (await again(['CANCELLED', 'SKIPPED'])).job;
  const { jobs, targetPreparation, targetQueue } = hub.registry;
  const fence = both && (await targetQueue.takeOwnership(both.id, hub.lease.id));
  if (fence === undefined) throw new TypeError('The new job has an owner.');
  await targetPreparation.prepareChunk(fence, [], 10, Date.now());
  const [reached] = await jobs.targets([fence.jobId], {}, { first: 9 });
  expect(reached?.rows.map(({ deviceId }) => deviceId)).toEqual([old]);
});
