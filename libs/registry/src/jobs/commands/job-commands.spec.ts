import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openJobFixture, type JobFixture } from '../job-fixture.suite.js';
import { AT, createJob, newJob } from '../new-job.suite.js';
import type { JobMove } from './job-commands.js';

const FLEET = 30;

describe('commands of jobs', () => {
  let fixture: JobFixture;

  beforeAll(async () => {
    fixture = await openJobFixture();
    await fixture.addDevices(FLEET);
  });
  afterAll(() => fixture.close());

  const progress = async (id: Parameters<typeof fixture.jobs.progress>[0][number]) =>
    (await fixture.jobs.progress([id])).get(id);

  it('creates a job once per actor and key, and reports another request with the key as a conflict', async () => {
    const job = newJob();
    expect(await createJob(fixture.jobCommands, job)).toMatchObject({
      kind: 'created',
      job: { id: job.id, state: 'PREPARING', version: 1 },
    });
    expect(await createJob(fixture.jobCommands, { ...newJob(), idempotencyKey: job.idempotencyKey })).toMatchObject({
      kind: 'repeat',
      job: { id: job.id },
    });
    expect(
      await createJob(fixture.jobCommands, { ...newJob(), idempotencyKey: job.idempotencyKey, requestHash: 'other' }),
    ).toEqual({
      kind: 'conflict',
    });
    expect(
      await createJob(fixture.jobCommands, {
        ...newJob(),
        idempotencyKey: job.idempotencyKey,
        createdById: 'KEY:another',
      }),
    ).toMatchObject({
      kind: 'created',
    });
  });

  it('moves a job only from the version that was read', async () => {
    const { jobId } = await fixture.runningJob();
    const job = await fixture.jobs.find(jobId);
    if (!job) throw new Error('no job');
    const moved = await fixture.jobCommands.transition(job, { state: 'PAUSED', pauseReason: 'USER' }, AT);
    expect(moved?.job).toMatchObject({ state: 'PAUSED', pauseReason: 'USER', version: job.version + 1 });
    expect(await fixture.jobCommands.transition(job, { state: 'CANCELLING' }, AT)).toBeUndefined();
  });

  it('notes when a job is resumed that its health gate had stopped, and not after another pause', async () => {
    const { jobId } = await fixture.runningJob();
    const job = await fixture.jobs.find(jobId);
    if (!job) throw new Error('no job');
    const counts = { restarts: 9, deviceHours: 1, baselineRestarts: 0, baselineDeviceHours: 9 };
    const trippedHealthGate = { ...counts, version: '2.0.0', at: AT };
    let { version } = job;
    const moved = async (move: JobMove, at: number) =>
      (await fixture.jobCommands.transition({ id: jobId, version: version++ }, move, at))?.job.trippedHealthGate;
    expect(await moved({ state: 'PAUSED', pauseReason: 'HEALTH_GATE', trippedHealthGate }, AT)).toEqual(
      trippedHealthGate,
    );
    const resumed = { ...trippedHealthGate, resumedAt: AT + 60_000 };
    expect(await moved({ state: 'RUNNING' }, AT + 60_000)).toEqual(resumed);
    await moved({ state: 'PAUSED', pauseReason: 'USER' }, AT + 70_000);
    expect(await moved({ state: 'RUNNING' }, AT + 80_000)).toEqual(resumed);
    const again = { ...trippedHealthGate, at: AT + 90_000 };
    expect(await moved({ state: 'PAUSED', pauseReason: 'HEALTH_GATE', trippedHealthGate: again }, again.at)).toEqual(
      again,
    );
  });

  it('forgets the targets of a job that waits for approval after all, also where their number was fixed', async () => {
    const job = newJob();
    const created = await createJob(fixture.jobCommands, job);
    const fence = await fixture.targetQueue.takeOwnership(job.id, fixture.owner);
    if (!fence || created.kind !== 'created') throw new Error('not made');
    await fixture.targetPreparation.prepareChunk(fence, [], FLEET, AT);
    expect(await fixture.targetPreparation.freeze(fence, [])).toBe(FLEET);
    const held = await fixture.jobCommands.transition(created.job, { state: 'AWAITING_APPROVAL' }, AT);
    expect(held?.job).toMatchObject({ approvalTargets: FLEET, total: undefined });
    expect(await progress(job.id)).toMatchObject({ total: 0, pending: 0 });
  });

  it('stores the event of each change with the change, and announces deliveries after it', async () => {
    const stored = (id: string) =>
      fixture.db.query<{ type: string }>({ text: `SELECT type FROM event WHERE data ->> 'jobId' = $1 ORDER BY id` }, [
        id,
      ]);
    const types = async (id: string) => (await stored(id)).map(({ type }) => type);
    await fixture.db.query(
      { text: `INSERT INTO webhook (id, url, types, secret, created_by) VALUES ($1, 'http://x', '{job.*}', 's', '')` },
      [randomUUID()],
    );
    const typesWhenPending: string[][] = [];
    const looks: Promise<unknown>[] = [];
    const job = newJob();
    fixture.events.whenPending(() => looks.push(types(job.id).then((found) => typesWhenPending.push([...found]))));
    await createJob(fixture.jobCommands, job);
    await fixture.jobCommands.transition(
      { id: job.id, version: 1 },
      { state: 'CANCELLING', conclusion: 'CANCELLED' },
      AT,
    );
    const end = { state: 'FINISHED', conclusion: 'CANCELLED' } as const;
    const ended = await fixture.jobCommands.transition({ id: job.id, version: 2 }, end, AT);
    expect(ended?.events).toMatchObject([{ type: 'job.finished', data: { jobId: job.id, conclusion: 'CANCELLED' } }]);
    expect(await types(job.id)).toEqual(['job.created', 'job.cancelled', 'job.finished']);
    await Promise.all(looks);
    expect(typesWhenPending.map((found) => found.includes('job.created'))).toEqual([true, true, true]);
    await fixture.db.query({ text: 'UPDATE webhook SET enabled = false' }, []);
  });

  it('mends counters that do not say what the rows say', async () => {
    const fence = await fixture.runningJob();
    const before = await progress(fence.jobId);
    await fixture.db.query({ text: 'UPDATE job_counter SET pending = pending + 2 WHERE job_id = $1' }, [fence.jobId]);
    expect(await fixture.jobCommands.reconcile(fence.jobId)).toBe(2);
    expect(await progress(fence.jobId)).toEqual(before);
  });
});
