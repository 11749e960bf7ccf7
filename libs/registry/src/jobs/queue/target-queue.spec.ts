import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openJobFixture, type JobFixture } from '../job-fixture.suite.js';
import { AT } from '../new-job.suite.js';
import type { TargetFlush } from './target-flush.js';
import type { ClaimedTarget } from './target-queue.js';
import { MARK_SENT } from './queue-statements.js';

const FLEET = 30;

function decided(target: ClaimedTarget, outcome: 'SUCCEEDED' | 'FAILED' = 'SUCCEEDED'): TargetFlush {
  const result = { content: [{ type: 'text', text: 'true' }], isError: false };
  return {
    deviceId: target.deviceId,
    claim: target.claim,
    to: { kind: 'decided', outcome, certainty: 'YES', error: undefined, result },
    startedAt: AT,
    at: AT + 5,
  };
}

const noVerification = { deadlineMs: 0, softMs: undefined };

describe('the queue of targets', () => {
  let fixture: JobFixture;

  beforeAll(async () => {
    fixture = await openJobFixture();
    await fixture.addDevices(FLEET);
  });
  afterAll(() => fixture.close());

  const waitingForLock = async () => {
    const text = `SELECT count(*)::int AS count FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    return (await fixture.db.query<{ count: number }>({ text }, []))[0]?.count;
  };
  const progress = async (id: Parameters<typeof fixture.jobs.progress>[0][number]) =>
    (await fixture.jobs.progress([id])).get(id);

  it('claims with the intent committed, flushes each end once, and counts what the rows say', async () => {
    const fence = await fixture.runningJob();
    const claimed = await fixture.targetQueue.claim(fence, 10, AT);
    expect(claimed).toHaveLength(10);
    expect(new Set(claimed.map((target) => target.callId)).size).toBe(10);
    expect(await progress(fence.jobId)).toMatchObject({ pending: FLEET - 10, inFlight: 10 });
    await fixture.targetQueue.markSent(
      fence,
      claimed.slice(0, 3).map((target) => target.deviceId),
    );
    expect(
      await fixture.targetQueue.flush(
        fence,
        claimed.map((target) => decided(target)),
      ),
    ).toBe(10);
    expect(
      await fixture.targetQueue.flush(
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
    expect(await fixture.jobCommands.reconcile(fence.jobId)).toBe(0);
  });

  it('writes results that PostgreSQL would refuse, and those beside them', async () => {
    const fence = await fixture.runningJob();
    const claimed = await fixture.targetQueue.claim(fence, 4, AT);
    const texts = [
      '\\u0000',
      'a\0b\ud800',
      `${'x'.repeat(2_048 - '{"content":[{"type":"text","text":"'.length - 1)}${'😀'.repeat(3_000)}`,
      'true',
    ];
    const flushes = claimed.map((target, index): TargetFlush => {
      const flush = decided(target);
      const result = { content: [{ type: 'text', text: texts[index] }], isError: false };
      return { ...flush, to: { ...flush.to, result } as TargetFlush['to'] };
    });
    expect(await fixture.targetQueue.flush(fence, flushes)).toBe(4);
    const [page] = await fixture.jobs.targets([fence.jobId], { outcomes: ['SUCCEEDED'] }, { first: 4 });
    const stored = page?.rows.map(({ result }) => result?.content[0]?.['text']);
    expect(stored).toEqual(
      expect.arrayContaining(['\\u0000', 'a\ufffdb\ufffd', expect.stringMatching(/^\[\d+ bytes.*\ufffd$/), 'true']),
    );
  });

  it('writes an end that PostgreSQL refuses without its answer, and those beside it', async () => {
    const fence = await fixture.runningJob();
    const claimed = await fixture.targetQueue.claim(fence, 5, AT);
    const error = { code: 'DEVICE_ERROR', message: 'too large a code', rpcCode: 2 ** 40 } as const;
    const flushes = claimed.map((target, index): TargetFlush => {
      const { to, ...flush } = decided(target, 'FAILED');
      return { ...flush, to: index === 2 ? ({ ...to, error } as TargetFlush['to']) : to };
    });
    expect(await fixture.targetQueue.flush(fence, flushes)).toBe(5);
    const [page] = await fixture.jobs.targets([fence.jobId], { outcomes: ['FAILED'] }, { first: 5 });
    const refused = page?.rows.filter((row) => row.result === undefined);
    expect(refused).toMatchObject([{ deviceId: claimed[2]?.deviceId, error: { code: 'DEVICE_ERROR' } }]);
  });

  it('writes the end of a target that is being marked as sent at that moment', async () => {
    const fence = await fixture.runningJob();
    const [target] = await fixture.targetQueue.claim(fence, 1, AT);
    if (!target) throw new Error('nothing claimed');
    let flushed = Promise.resolve(0);
    await fixture.db.transaction(async (transaction) => {
      await MARK_SENT.run(transaction, { ...fence, deviceIds: [target.deviceId] });
      flushed = fixture.targetQueue.flush(fence, [decided(target)]);
      await expect.poll(() => waitingForLock()).toBe(1);
    });
    expect(await flushed).toBe(1);
    expect(await progress(fence.jobId)).toMatchObject({ inFlight: 0, succeeded: 1 });
  });

  it('gives the attempt back to a target that was certainly not sent', async () => {
    const fence = await fixture.runningJob();
    const [target] = await fixture.targetQueue.claim(fence, 1, AT);
    if (!target) throw new Error('nothing claimed');
    await fixture.setOnline(target.deviceId, false);
    await fixture.targetQueue.flush(fence, [
      { deviceId: target.deviceId, claim: target.claim, to: { kind: 'waiting' }, startedAt: undefined, at: AT },
    ]);
    expect(await progress(fence.jobId)).toMatchObject({ waitingDevice: 1, pending: FLEET - 1 });
    expect(await fixture.targetQueue.wakeWaiting(fence)).toBe(0);
    await fixture.setOnline(target.deviceId, true);
    expect(await fixture.targetQueue.wakeWaiting(fence, [target.deviceId])).toBe(1);
    const again = (await fixture.targetQueue.claim(fence, FLEET, AT)).find(
      ({ deviceId }) => deviceId === target.deviceId,
    );
    expect(again?.claim).toBeGreaterThan(target.claim);
    expect(await fixture.targetQueue.flush(fence, [decided(target)])).toBe(0);
  });

  it('keeps that a former attempt may have run, where later claims send nothing', async () => {
    const fence = await fixture.runningJob({ idempotent: true, offline: 'SKIP', devices: { ids: ['device-0000000'] } });
    const row = () =>
      fixture.db.query({ text: 'SELECT outcome, certainty FROM job_target WHERE job_id = $1' }, [fence.jobId]);
    const claimAndEnd = async (to: TargetFlush['to']) => {
      const [target] = await fixture.targetQueue.claim(fence, 1, AT);
      if (!target) throw new Error('nothing claimed');
      const { deviceId, claim } = target;
      await fixture.targetQueue.flush(fence, [{ deviceId, claim, to, startedAt: AT, at: AT }]);
      return deviceId;
    };
    const error = { code: 'TIMEOUT', message: 'no answer' } as const;
    await claimAndEnd({ kind: 'retry', notBefore: AT, certainty: 'YES', error });
    await fixture.targetQueue.releaseRetries(fence, AT);
    const deviceId = await claimAndEnd({ kind: 'ready' });
    expect(await row()).toEqual([{ outcome: null, certainty: 'MAYBE' }]);
    await fixture.setOnline(deviceId, false);
    expect(await fixture.targetQueue.claim(fence, 1, AT)).toEqual([]);
    await fixture.setOnline(deviceId, true);
    expect(await row()).toEqual([{ outcome: 'UNKNOWN', certainty: 'MAYBE' }]);
  });

  it.each([
    ['REJECTED', 'READBACK_DIFFERS', 'FAILED', 'READBACK_DIFFERS'],
    ['SKIPPED', 'LARGE_MESSAGES_LOST', 'UNKNOWN', 'LARGE_MESSAGES_LOST'],
    ['NO_CHANGE', 'TIMEOUT', 'SUCCEEDED', null],
  ] as const)('keeps the end of a sent attempt if its retry ends %s after %s', async (outcome, code, kept, error) => {
    const fence = await fixture.runningJob({ idempotent: true, devices: { ids: ['device-0000000'] } });
    const ends: readonly TargetFlush['to'][] = [
      { kind: 'retry', notBefore: AT, certainty: 'YES', error: { code, message: 'of the sent attempt' } },
      { kind: 'decided', outcome, certainty: 'NEVER', error: undefined, result: undefined },
    ];
    for (const to of ends) {
      const [target] = await fixture.targetQueue.claim(fence, 1, AT);
      if (!target) throw new Error('nothing claimed');
      const { deviceId, claim } = target;
      await fixture.targetQueue.flush(fence, [{ deviceId, claim, to, startedAt: AT, at: AT }]);
      await fixture.targetQueue.releaseRetries(fence, AT);
    }
    const text = 'SELECT outcome, certainty, attempts, error_code FROM job_target WHERE job_id = $1';
    expect(await fixture.db.query({ text }, [fence.jobId])).toEqual([
      { outcome: kept, certainty: 'MAYBE', attempts: 1, error_code: error },
    ]);
    expect(await fixture.jobCommands.reconcile(fence.jobId)).toBe(0);
  });

  it('does not claim a target again before its time if its gateway was overloaded', async () => {
    const fence = await fixture.runningJob();
    const claimed = await fixture.targetQueue.claim(fence, 2, AT);
    const rest = { kind: 'ready', notBefore: AT + 1_000 } as const;
    await fixture.targetQueue.flush(
      fence,
      claimed.map(({ deviceId, claim }) => ({ deviceId, claim, to: rest, startedAt: undefined, at: AT })),
    );
    expect(await progress(fence.jobId)).toMatchObject({ pending: FLEET, inFlight: 0 });
    expect(await fixture.targetQueue.claim(fence, FLEET, AT + 999)).toHaveLength(FLEET - 2);
    expect(await fixture.targetQueue.claim(fence, FLEET, AT + 1_000)).toHaveLength(2);
  });

  it('says until when a claimed target may be sent: no longer than the lease of its owner', async () => {
    const fence = await fixture.runningJob();
    const [target] = await fixture.targetQueue.claim(fence, 1, AT);
    expect(target?.sendBy).toBeGreaterThan(AT + 3_000_000);
    expect(target?.sendBy).toBeLessThanOrEqual(AT + 3_600_000);
  });

  it('never claims a target again that may have been sent and may not run twice', async () => {
    const fence = await fixture.runningJob({ idempotent: false });
    const claimed = await fixture.targetQueue.claim(fence, 5, AT);
    expect(await fixture.targetQueue.recover(fence, AT, noVerification)).toMatchObject({
      resent: 0,
      verifying: 0,
      unknown: 5,
    });
    const rest = await fixture.targetQueue.claim(fence, 100, AT);
    expect(rest).toHaveLength(FLEET - 5);
    expect(rest.some((target) => claimed.some(({ deviceId }) => deviceId === target.deviceId))).toBe(false);
    expect(await progress(fence.jobId)).toMatchObject({ unknown: 5, inFlight: FLEET - 5 });
  });

  it('does not even claim it where something has put it back in line', async () => {
    const fence = await fixture.runningJob({ idempotent: false });
    await fixture.targetQueue.claim(fence, 5, AT);
    await fixture.db.query({ text: `UPDATE job_target SET state = 'READY' WHERE job_id = $1` }, [fence.jobId]);
    expect(await fixture.targetQueue.claim(fence, 100, AT)).toHaveLength(FLEET - 5);
  });

  it('sends again what may run twice', async () => {
    const fence = await fixture.runningJob({ idempotent: true });
    await fixture.targetQueue.claim(fence, 5, AT);
    expect(await fixture.targetQueue.recover(fence, AT, noVerification)).toMatchObject({
      resent: 5,
      verifying: 0,
      unknown: 0,
    });
    expect(await fixture.targetQueue.claim(fence, 100, AT)).toHaveLength(FLEET);
  });

  it('has one owner, whom only the end of its lease replaces, and refuses what a former owner writes', async () => {
    const fence = await fixture.runningJob();
    const rival = await fixture.addProcess();
    expect(await fixture.targetQueue.takeOwnership(fence.jobId, rival)).toBeUndefined();
    const claimed = await fixture.targetQueue.claim(fence, 4, AT);
    await fixture.endLease(fixture.owner);
    expect(await fixture.targetQueue.claim(fence, 4, AT)).toEqual([]);
    // Devices of the ended gateway would only wait: the rows show that the claim changed nothing.
    expect(await progress(fence.jobId)).toMatchObject({ pending: FLEET - 4, inFlight: 4, waitingDevice: 0 });
    const newer = await fixture.targetQueue.takeOwnership(fence.jobId, rival);
    expect(newer?.fence).toBeGreaterThan(fence.fence);
    expect(
      await fixture.targetQueue.flush(
        fence,
        claimed.map((target) => decided(target)),
      ),
    ).toBe(0);
    expect(await fixture.targetQueue.endNeverSent(fence, 'CANCELLED', AT)).toEqual({ count: 0, deviceIds: [] });
    await fixture.db.query({ text: `UPDATE hub_process SET lease_until = now() + interval '1 hour' WHERE id = $1` }, [
      fixture.owner,
    ]);
    expect((await fixture.targetQueue.liveJobs()).find((job) => job.id === fence.jobId)).toEqual({
      id: fence.jobId,
      owner: rival,
      ownerIsAlive: true,
    });
  });

  it('ends never-sent targets as cancelled and in-flight ones as unknown', async () => {
    const fence = await fixture.runningJob();
    await fixture.targetQueue.claim(fence, 3, AT);
    const { count, deviceIds } = await fixture.targetQueue.endNeverSent(fence, 'CANCELLED', AT);
    expect(count).toBe(FLEET - 3);
    expect(new Set(deviceIds).size).toBe(FLEET - 3);
    expect(await fixture.targetQueue.endInFlight(fence, { code: 'TIMEOUT', message: 'not awaited' }, AT)).toMatchObject(
      {
        count: 3,
      },
    );
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
});
