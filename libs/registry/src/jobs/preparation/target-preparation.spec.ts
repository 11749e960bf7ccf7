import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DeviceId, ToolSetHash } from '@flotilla/mcp';
import { openJobFixture, type JobFixture } from '../job-fixture.suite.js';
import { AT, createJob, newJob } from '../new-job.suite.js';

const FLEET = 30;

describe('the preparation of targets', () => {
  let fixture: JobFixture;
  let devices: readonly DeviceId[];

  beforeAll(async () => {
    fixture = await openJobFixture();
    devices = await fixture.addDevices(FLEET);
  });
  afterAll(() => fixture.close());

  const progress = async (id: Parameters<typeof fixture.jobs.progress>[0][number]) =>
    (await fixture.jobs.progress([id])).get(id);

  it('prepares in chunks, each from where the one before ended, also where two are asked for at once', async () => {
    const job = newJob();
    await createJob(fixture.jobCommands, job);
    const fence = await fixture.targetQueue.takeOwnership(job.id, fixture.owner);
    if (!fence) throw new Error('not owned');
    const chunk = () => fixture.targetPreparation.prepareChunk(fence, [], 10, AT);
    expect(await chunk()).toBe(10);
    expect(await Promise.all([chunk(), chunk()])).toEqual([10, 10]);
    expect(await fixture.targetPreparation.prepareChunk(fence, [], FLEET, AT)).toBe(FLEET - 30);
    expect(await fixture.targetPreparation.prepareChunk(fence, [], 20, AT)).toBe(0);
    expect(await fixture.targetPreparation.freeze(fence, [])).toBe(FLEET);
    expect(await progress(job.id)).toMatchObject({ total: FLEET, pending: FLEET });
  });

  it('applies the verdict on a tool set to all its devices', async () => {
    const hash = 'aa'.repeat(32) as ToolSetHash;
    await fixture.db.query({ text: 'INSERT INTO tool_set (hash) VALUES ($1)' }, [hash]);
    await fixture.db.query({ text: 'UPDATE device SET tool_set_hash = $1 WHERE id = ANY ($2)' }, [
      hash,
      devices.slice(0, 7),
    ]);
    const job = newJob();
    await createJob(fixture.jobCommands, job);
    const fence = await fixture.targetQueue.takeOwnership(job.id, fixture.owner);
    if (!fence) throw new Error('not owned');
    expect(await fixture.targetPreparation.toolSetsOf(fence)).toEqual([hash]);
    await fixture.targetPreparation.prepareChunk(
      fence,
      [{ toolSetHash: hash, rejection: { code: 'TOOL_UNKNOWN', message: 'no such tool' } }],
      100,
      AT,
    );
    expect(await progress(job.id)).toMatchObject({ pending: FLEET - 7, rejected: 7 });
    expect(await fixture.jobs.failureGroups([job.id], 5)).toMatchObject([
      [{ outcome: 'REJECTED', code: 'TOOL_UNKNOWN', count: 7 }],
    ]);
  });

  it('leaves targets that end at preparation out of the waves', async () => {
    const hash = 'bb'.repeat(32) as ToolSetHash;
    await fixture.db.query({ text: 'INSERT INTO tool_set (hash) VALUES ($1)' }, [hash]);
    await fixture.db.query({ text: 'UPDATE device SET tool_set_hash = $1 WHERE id = ANY ($2)' }, [
      hash,
      devices.slice(0, 18),
    ]);
    const job = newJob({ waves: [{ count: 4, gate: 'AUTO', successThreshold: 1, soakSeconds: 0 }] });
    await createJob(fixture.jobCommands, job);
    const fence = await fixture.targetQueue.takeOwnership(job.id, fixture.owner);
    if (!fence) throw new Error('not owned');
    const rejection = { code: 'TOOL_UNKNOWN', message: 'no such tool' } as const;
    await fixture.targetPreparation.prepareChunk(fence, [{ toolSetHash: hash, rejection }], 100, AT);
    expect(await fixture.targetPreparation.countSendable(fence)).toBe(FLEET - 18);
    const guard = { gate: 'AUTO', successThreshold: 1, soakSeconds: 0 } as const;
    const total = await fixture.targetPreparation.freeze(fence, [
      { number: 1, size: 4, ...guard },
      { number: 2, size: FLEET - 22, ...guard },
    ]);
    expect(total).toBe(FLEET);
    const [waves] = await fixture.jobs.waveProgress([job.id]);
    expect(waves?.get(0)).toMatchObject({ total: 18, rejected: 18 });
    expect(waves?.get(1)).toMatchObject({ total: 4, pending: 4, rejected: 0 });
    expect(waves?.get(2)).toMatchObject({ total: FLEET - 22, pending: FLEET - 22, rejected: 0 });
    expect(await progress(job.id)).toMatchObject({ total: FLEET, rejected: 18 });
    expect(await fixture.jobCommands.reconcile(job.id)).toBe(0);
    const lastDecidedAt = (wave?: number) => fixture.targetPreparation.lastDecidedAt(fence, wave);
    expect(await lastDecidedAt()).toBeUndefined();
    const decide = `UPDATE job_target SET state = 'DECIDED', outcome = 'SUCCEEDED', decided_at = $2 WHERE job_id = $1`;
    await fixture.db.query({ text: `${decide} AND wave = 2` }, [job.id, new Date(AT + 1_000)]);
    await fixture.db.query({ text: `${decide} AND wave = 1` }, [job.id, new Date(AT + 2_000)]);
    expect([await lastDecidedAt(2), await lastDecidedAt()]).toEqual([AT + 1_000, AT + 2_000]);
  });

  it('distinguishes the end of preparation from a job that is not being prepared', async () => {
    const job = newJob();
    const created = await createJob(fixture.jobCommands, job);
    const fence = await fixture.targetQueue.takeOwnership(job.id, fixture.owner);
    if (!fence || created.kind !== 'created') throw new Error('not made');
    await fixture.targetPreparation.prepareChunk(fence, [], 10, AT);
    await fixture.jobCommands.transition(created.job, { state: 'PAUSED', pauseReason: 'USER' }, AT);
    expect(await fixture.targetPreparation.prepareChunk(fence, [], 10, AT)).toBeUndefined();
    expect(
      await fixture.targetPreparation.prepareChunk({ ...fence, fence: fence.fence - 1 }, [], 10, AT),
    ).toBeUndefined();
  });

  it('awaits devices whose gateway has ended, although their rows still say online', async () => {
    const ended = await fixture.addProcess(false);
    const text = 'UPDATE device SET gateway_id = $1 WHERE id = ANY ($2)';
    await fixture.db.query({ text }, [ended, devices.slice(0, 3)]);
    const { jobId } = await fixture.runningJob({ devices: { ids: devices.slice(0, 5) } });
    expect(await progress(jobId)).toMatchObject({ pending: 2, waitingDevice: 3 });
  });

  it('counts the devices of a filter no further than it must', async () => {
    expect(await fixture.targetPreparation.countDevices({ ids: devices.slice(0, 4) }, 10)).toBe(4);
    expect(await fixture.targetPreparation.countDevices({ all: true }, 10)).toBe(10);
    expect(await fixture.targetPreparation.countDevices({}, 10)).toBe(0);
  });
});
