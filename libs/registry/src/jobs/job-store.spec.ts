import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DeviceId, ToolSetHash } from '@flotilla/mcp';
import type { TargetFlush } from './queue/target-flush.js';
import type { ClaimedTarget } from './queue/target-queue.js';
import { MARK_SENT } from './queue/queue-statements.js';
import { AT, newJob, openJobFixture, type JobFixture } from './job-fixture.suite.js';

const FLEET = 30;

function decided(target: ClaimedTarget, outcome: 'SUCCEEDED' | 'FAILED' = 'SUCCEEDED'): TargetFlush {
  const result = { content: [{ type: 'text', text: 'true' }], isError: false };
  return {
    deviceId: target.deviceId,
    attempt: target.attempt,
    to: { kind: 'decided', outcome, certainty: 'YES', error: undefined, result },
    startedAt: AT,
    at: AT + 5,
  };
}

const noVerification = { deadlineMs: 0, softMs: undefined };

describe('the job store', () => {
  let fixture: JobFixture;
  let devices: readonly DeviceId[];

  beforeAll(async () => {
    fixture = await openJobFixture();
    devices = await fixture.addDevices(FLEET);
  });
  afterAll(() => fixture.close());

  const waitingForLock = async () => {
    const text = `SELECT count(*)::int AS count FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    return (await fixture.db.query<{ count: number }>({ text }, []))[0]?.count;
  };
  const progress = async (id: Parameters<typeof fixture.jobs.progress>[0][number]) =>
    (await fixture.jobs.progress([id])).get(id);

  it('creates a job once per actor and key, and reports another request with the key as a conflict', async () => {
    const job = newJob();
    expect(await fixture.jobs.create(job)).toMatchObject({
      kind: 'created',
      job: { id: job.id, state: 'PREPARING', version: 1 },
    });
    expect(await fixture.jobs.create({ ...newJob(), idempotencyKey: job.idempotencyKey })).toMatchObject({
      kind: 'repeat',
      job: { id: job.id },
    });
    expect(
      await fixture.jobs.create({ ...newJob(), idempotencyKey: job.idempotencyKey, requestHash: 'other' }),
    ).toEqual({
      kind: 'conflict',
    });
    expect(
      await fixture.jobs.create({ ...newJob(), idempotencyKey: job.idempotencyKey, createdById: 'KEY:another' }),
    ).toMatchObject({
      kind: 'created',
    });
  });

  it('prepares in chunks, each from where the one before ended, also where two are asked for at once', async () => {
    const job = newJob();
    await fixture.jobs.create(job);
    const fence = await fixture.jobs.takeOwnership(job.id, fixture.owner);
    if (!fence) throw new Error('not owned');
    const chunk = () => fixture.jobs.prepareChunk(fence, [], 10, AT);
    expect(await chunk()).toBe(10);
    expect(await Promise.all([chunk(), chunk()])).toEqual([10, 10]);
    expect(await fixture.jobs.prepareChunk(fence, [], FLEET, AT)).toBe(FLEET - 30);
    expect(await fixture.jobs.prepareChunk(fence, [], 20, AT)).toBe(0);
    expect(await fixture.jobs.freeze(fence, [])).toBe(FLEET);
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
    await fixture.jobs.create(job);
    const fence = await fixture.jobs.takeOwnership(job.id, fixture.owner);
    if (!fence) throw new Error('not owned');
    expect(await fixture.jobs.toolSetsOf(fence)).toEqual([hash]);
    await fixture.jobs.prepareChunk(
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

  it('claims with the intent committed, flushes each end once, and counts what the rows say', async () => {
    const fence = await fixture.runningJob();
    const claimed = await fixture.jobs.claim(fence, 10, AT);
    expect(claimed).toHaveLength(10);
    expect(new Set(claimed.map((target) => target.callId)).size).toBe(10);
    expect(await progress(fence.jobId)).toMatchObject({ pending: FLEET - 10, inFlight: 10 });
    await fixture.jobs.markSent(
      fence,
      claimed.slice(0, 3).map((target) => target.deviceId),
    );
    expect(
      await fixture.jobs.flush(
        fence,
        claimed.map((target) => decided(target)),
      ),
    ).toBe(10);
    expect(
      await fixture.jobs.flush(
        fence,
        claimed.map((target) => decided(target, 'FAILED')),
      ),
    ).toBe(0);
    expect(await progress(fence.jobId)).toMatchObject({ pending: FLEET - 10, inFlight: 0, succeeded: 10, failed: 0 });
    const [page] = await fixture.jobs.targets([fence.jobId], { outcomes: ['SUCCEEDED'] }, { first: 4 });
    expect(page).toMatchObject({
      hasNextPage: true,
      rows: [{ state: 'DECIDED', attempts: 1, result: { isError: false } }, {}, {}, {}],
    });
    expect(await fixture.jobs.reconcile(fence.jobId)).toBe(0);
  });

  it('writes the end of a target that is being marked as sent at that moment', async () => {
    const fence = await fixture.runningJob();
    const [target] = await fixture.jobs.claim(fence, 1, AT);
    if (!target) throw new Error('nothing claimed');
    let flushed = Promise.resolve(0);
    await fixture.db.transaction(async (transaction) => {
      await MARK_SENT.run(transaction, { ...fence, deviceIds: [target.deviceId] });
      flushed = fixture.jobs.flush(fence, [decided(target)]);
      await expect.poll(() => waitingForLock()).toBe(1);
    });
    expect(await flushed).toBe(1);
    expect(await progress(fence.jobId)).toMatchObject({ inFlight: 0, succeeded: 1 });
  });

  it('gives the attempt back to a target that was certainly not sent', async () => {
    const fence = await fixture.runningJob();
    const [target] = await fixture.jobs.claim(fence, 1, AT);
    if (!target) throw new Error('nothing claimed');
    await fixture.setOnline(target.deviceId, false);
    await fixture.jobs.flush(fence, [
      { deviceId: target.deviceId, attempt: target.attempt, to: { kind: 'waiting' }, startedAt: undefined, at: AT },
    ]);
    expect(await progress(fence.jobId)).toMatchObject({ waitingDevice: 1, pending: FLEET - 1 });
    expect(await fixture.jobs.wakeWaiting(fence)).toBe(0);
    await fixture.setOnline(target.deviceId, true);
    expect(await fixture.jobs.wakeWaiting(fence, [target.deviceId])).toBe(1);
    const again = (await fixture.jobs.claim(fence, FLEET, AT)).find(({ deviceId }) => deviceId === target.deviceId);
    expect(again?.attempt).toBeGreaterThan(target.attempt);
    expect(await fixture.jobs.flush(fence, [decided(target)])).toBe(0);
  });

  it('does not claim a target again before its time if its gateway was overloaded', async () => {
    const fence = await fixture.runningJob();
    const claimed = await fixture.jobs.claim(fence, 2, AT);
    const rest = { kind: 'ready', notBefore: AT + 1_000 } as const;
    await fixture.jobs.flush(
      fence,
      claimed.map(({ deviceId, attempt }) => ({ deviceId, attempt, to: rest, startedAt: undefined, at: AT })),
    );
    expect(await progress(fence.jobId)).toMatchObject({ pending: FLEET, inFlight: 0 });
    expect(await fixture.jobs.claim(fence, FLEET, AT + 999)).toHaveLength(FLEET - 2);
    expect(await fixture.jobs.claim(fence, FLEET, AT + 1_000)).toHaveLength(2);
  });

  it('says until when a claimed target may be sent: no longer than the lease of its owner', async () => {
    const fence = await fixture.runningJob();
    const [target] = await fixture.jobs.claim(fence, 1, AT);
    expect(target?.sendBy).toBeGreaterThan(AT + 3_000_000);
    expect(target?.sendBy).toBeLessThanOrEqual(AT + 3_600_000);
  });

  it('distinguishes the end of preparation from a job that is not being prepared', async () => {
    const job = newJob();
    const created = await fixture.jobs.create(job);
    const fence = await fixture.jobs.takeOwnership(job.id, fixture.owner);
    if (!fence || created.kind !== 'created') throw new Error('not made');
    await fixture.jobs.prepareChunk(fence, [], 10, AT);
    await fixture.jobs.transition(created.job, { state: 'PAUSED', pauseReason: 'USER' }, AT);
    expect(await fixture.jobs.prepareChunk(fence, [], 10, AT)).toBeUndefined();
    expect(await fixture.jobs.prepareChunk({ ...fence, fence: fence.fence - 1 }, [], 10, AT)).toBeUndefined();
  });

  it('counts the devices of a filter no further than it must', async () => {
    expect(await fixture.jobs.countDevices({ ids: devices.slice(0, 4) }, 10)).toBe(4);
    expect(await fixture.jobs.countDevices({ all: true }, 10)).toBe(10);
    expect(await fixture.jobs.countDevices({}, 10)).toBe(0);
  });

  it('never claims a target again that may have been sent and may not run twice', async () => {
    const fence = await fixture.runningJob({ idempotent: false });
    const claimed = await fixture.jobs.claim(fence, 5, AT);
    expect(await fixture.jobs.recover(fence, AT, noVerification)).toMatchObject({
      resent: 0,
      verifying: 0,
      unknown: 5,
    });
    const rest = await fixture.jobs.claim(fence, 100, AT);
    expect(rest).toHaveLength(FLEET - 5);
    expect(rest.some((target) => claimed.some(({ deviceId }) => deviceId === target.deviceId))).toBe(false);
    expect(await progress(fence.jobId)).toMatchObject({ unknown: 5, inFlight: FLEET - 5 });
  });

  it('does not even claim it where something has put it back in line', async () => {
    const fence = await fixture.runningJob({ idempotent: false });
    await fixture.jobs.claim(fence, 5, AT);
    await fixture.db.query({ text: `UPDATE job_target SET state = 'READY' WHERE job_id = $1` }, [fence.jobId]);
    expect(await fixture.jobs.claim(fence, 100, AT)).toHaveLength(FLEET - 5);
  });

  it('sends again what may run twice', async () => {
    const fence = await fixture.runningJob({ idempotent: true });
    await fixture.jobs.claim(fence, 5, AT);
    expect(await fixture.jobs.recover(fence, AT, noVerification)).toMatchObject({
      resent: 5,
      verifying: 0,
      unknown: 0,
    });
    expect(await fixture.jobs.claim(fence, 100, AT)).toHaveLength(FLEET);
  });

  it('has one owner, whom only the end of its lease replaces, and refuses what a former owner writes', async () => {
    const fence = await fixture.runningJob();
    const rival = await fixture.addProcess();
    expect(await fixture.jobs.takeOwnership(fence.jobId, rival)).toBeUndefined();
    const claimed = await fixture.jobs.claim(fence, 4, AT);
    await fixture.endLease(fixture.owner);
    expect(await fixture.jobs.claim(fence, 4, AT)).toEqual([]);
    const newer = await fixture.jobs.takeOwnership(fence.jobId, rival);
    expect(newer?.fence).toBeGreaterThan(fence.fence);
    expect(
      await fixture.jobs.flush(
        fence,
        claimed.map((target) => decided(target)),
      ),
    ).toBe(0);
    expect(await fixture.jobs.endNeverSent(fence, 'CANCELLED', AT)).toEqual({ count: 0, deviceIds: [] });
    await fixture.db.query({ text: `UPDATE hub_process SET lease_until = now() + interval '1 hour' WHERE id = $1` }, [
      fixture.owner,
    ]);
    expect((await fixture.jobs.liveJobs()).find((job) => job.id === fence.jobId)).toEqual({
      id: fence.jobId,
      owner: rival,
      ownerIsAlive: true,
    });
  });

  it('ends never-sent targets as cancelled and in-flight ones as unknown', async () => {
    const fence = await fixture.runningJob();
    await fixture.jobs.claim(fence, 3, AT);
    const { count, deviceIds } = await fixture.jobs.endNeverSent(fence, 'CANCELLED', AT);
    expect(count).toBe(FLEET - 3);
    expect(new Set(deviceIds).size).toBe(FLEET - 3);
    expect(await fixture.jobs.endInFlight(fence, { code: 'TIMEOUT', message: 'not awaited' }, AT)).toMatchObject({
      count: 3,
    });
    expect(await progress(fence.jobId)).toMatchObject({
      total: FLEET,
      pending: 0,
      inFlight: 0,
      cancelled: FLEET - 3,
      unknown: 3,
    });
  });

  it('skips or rejects devices that are away, as the job says', async () => {
    const [away] = await fixture.addDevices(1, false);
    const devicesOf = { ids: [away ?? ''] };
    expect(await progress((await fixture.runningJob({ offline: 'SKIP', devices: devicesOf })).jobId)).toMatchObject({
      skipped: 1,
      total: 1,
    });
    expect(await progress((await fixture.runningJob({ offline: 'FAIL', devices: devicesOf })).jobId)).toMatchObject({
      rejected: 1,
      total: 1,
    });
    expect(await progress((await fixture.runningJob({ offline: 'WAIT', devices: devicesOf })).jobId)).toMatchObject({
      waitingDevice: 1,
      total: 1,
    });
  });

  it('moves a job only from the version that was read', async () => {
    const { jobId } = await fixture.runningJob();
    const job = await fixture.jobs.find(jobId);
    if (!job) throw new Error('no job');
    expect(await fixture.jobs.transition(job, { state: 'PAUSED', pauseReason: 'USER' }, AT)).toMatchObject({
      state: 'PAUSED',
      pauseReason: 'USER',
      version: job.version + 1,
    });
    expect(await fixture.jobs.transition(job, { state: 'CANCELLING' }, AT)).toBeUndefined();
  });

  it('mends counters that do not say what the rows say', async () => {
    const fence = await fixture.runningJob();
    const before = await progress(fence.jobId);
    await fixture.db.query({ text: 'UPDATE job_counter SET pending = pending + 2 WHERE job_id = $1' }, [fence.jobId]);
    expect(await fixture.jobs.reconcile(fence.jobId)).toBe(2);
    expect(await progress(fence.jobId)).toEqual(before);
  });

  it('lists jobs latest first, by state, tool and text', async () => {
    const named = newJob({ name: 'Quiet_100% night', tool: 'self.audio_speaker.set_volume' });
    await fixture.jobs.create(named);
    expect((await fixture.jobs.page({ search: '_100%' }, { first: 5 })).rows.map((job) => job.id)).toEqual([named.id]);
    expect(
      (
        await fixture.jobs.page({ tool: 'self.audio_speaker.set_volume', states: ['PREPARING'] }, { first: 5 })
      ).rows.map((job) => job.id),
    ).toEqual([named.id]);
    const first = await fixture.jobs.page({}, { first: 2 });
    const second = await fixture.jobs.page({}, { first: 2, after: first.cursors[1] ?? '' });
    expect(second.rows.some((job) => first.rows.some(({ id }) => id === job.id))).toBe(false);
  });
});
