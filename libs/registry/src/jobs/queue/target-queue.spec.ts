import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openJobFixture, type JobFixture } from '../job-fixture.suite.js';
import { AT, decided } from '../new-job.suite.js';

const FLEET = 30;

const noVerification = { deadlineMs: 0, softMs: undefined };

describe('the queue of targets', () => {
  let fixture: JobFixture;

  beforeAll(async () => {
    fixture = await openJobFixture();
    await fixture.addDevices(FLEET);
  });
  afterAll(() => fixture.close());

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
