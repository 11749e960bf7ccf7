import { randomUUID } from 'node:crypto';
import type { DeviceId, JobId } from '@flotilla/mcp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NewJob } from '../commands/new-job.js';
import type { JobFence } from '../job-fence.js';
import type { TargetFlush } from '../queue/target-flush.js';
import type { ClaimedTarget } from '../queue/target-queue.js';
import { openJobFixture, type JobFixture } from '../job-fixture.suite.js';
import { AT } from '../new-job.suite.js';

const verifying = ({ deviceId, claim }: ClaimedTarget): TargetFlush => ({
  deviceId,
  claim,
  startedAt: AT,
  at: AT + 100,
  to: {
    kind: 'verifying',
    certainty: 'YES',
    error: undefined,
    result: undefined,
    deadlineAt: AT + 60_000,
    softDeadlineAt: AT + 30_000,
    readAt: AT + 600,
  },
});

type Targets = readonly [ClaimedTarget, ClaimedTarget, ...ClaimedTarget[]];

describe('targets that are being verified', () => {
  let fixture: JobFixture;

  beforeAll(async () => {
    fixture = await openJobFixture();
  });
  afterAll(() => fixture.close());

  /** A job whose targets, one for each of new devices, were all sent on epoch 1. */
  async function sentJob(count: number, change: Partial<NewJob> = {}): Promise<readonly [JobFence, Targets]> {
    const ids = await fixture.addDevices(count);
    await fixture.db.query(
      { text: `UPDATE device SET firmware_version = '1.0.0', connected_at = $2 WHERE id = ANY ($1)` },
      [ids, new Date(AT - 1_000)],
    );
    for (const id of ids) await openSession(id, 1, AT - 1_000);
    const fence = await fixture.runningJob({ verification: 'REBOOT', devices: { ids }, ...change });
    const [first, second, ...more] = await fixture.targetQueue.claim(fence, count, AT);
    if (first === undefined || second === undefined) throw new TypeError('These specs need two targets at least.');
    return [fence, [first, second, ...more]];
  }

  async function verifyingJob(count: number, change: Partial<NewJob> = {}): Promise<readonly [JobFence, Targets]> {
    const [fence, targets] = await sentJob(count, change);
    await fixture.targetQueue.flush(fence, targets.map(verifying));
    return [fence, targets];
  }

  async function openSession(
    deviceId: DeviceId,
    epoch: number,
    at: number,
    version = '1.0.0',
    gatewayId: string = fixture.owner,
  ): Promise<void> {
    await fixture.db.query(
      {
        text: `INSERT INTO session (device_id, epoch, gateway_id, transport, firmware_version, connected_at)
               VALUES ($1, $2, $3, 'MQTT', $4, $5)`,
      },
      [deviceId, epoch, gatewayId, version, new Date(at)],
    );
  }

  /** Ends the session for this reason. The device returns with epoch 2, by default at the owner. */
  async function returns(
    deviceId: DeviceId,
    reason: string,
    version = '1.0.0',
    gatewayId: string = fixture.owner,
  ): Promise<void> {
    await fixture.db.query(
      { text: `UPDATE session SET disconnected_at = $2, close_reason = $3 WHERE device_id = $1` },
      [deviceId, new Date(AT + 1_000), reason],
    );
    await openSession(deviceId, 2, AT + 5_000, version, gatewayId);
    await fixture.db.query(
      { text: `UPDATE device SET epoch = 2, firmware_version = $2, gateway_id = $3, connected_at = $4 WHERE id = $1` },
      [deviceId, version, gatewayId, new Date(AT + 5_000)],
    );
  }

  async function expectProgress(id: JobId, counts: Readonly<Record<string, number>>): Promise<void> {
    expect((await fixture.jobs.progress([id])).get(id)).toMatchObject(counts);
    expect(await fixture.jobCommands.reconcile(id)).toBe(0);
  }

  it('remember what was running before, keep their attempt, and are counted', async () => {
    const [fence, targets] = await verifyingJob(3);
    expect(targets[0]).toMatchObject({ baselineVersion: '1.0.0', epoch: 1 });
    await expectProgress(fence.jobId, { verifying: 3, inFlight: 0 });
    const [page] = await fixture.jobs.targets([fence.jobId], {}, { first: 1 });
    expect(page?.rows[0]).toMatchObject({
      state: 'VERIFYING',
      attempts: 1,
      baselineVersion: '1.0.0',
      verifyDeadlineAt: AT + 60_000,
    });
  });

  it('are looked at when their device is back or their time is up, in one statement', async () => {
    const [fence, [first, second]] = await verifyingJob(3);
    expect(await fixture.targetVerification.verifying(fence, AT + 1_000)).toEqual({ verifyingCount: 3, targets: [] });
    await returns(first.deviceId, 'device_closed');
    const look = await fixture.targetVerification.verifying(fence, AT + 6_000);
    expect(look.targets).toHaveLength(1);
    expect(look.targets[0]).toMatchObject({
      deviceId: first.deviceId,
      sentEpoch: 1,
      epoch: 2,
      isOnline: true,
      hasLeft: true,
      attempts: 1,
    });
    expect((await fixture.targetVerification.verifying(fence, AT + 6_000, [second.callId])).targets).toHaveLength(2);
    expect((await fixture.targetVerification.verifying(fence, AT + 30_000)).targets).toHaveLength(3);
  });

  it('were left by their device only if the hub did not end the session', async () => {
    const another = await fixture.addProcess();
    const cases = [
      ['device_closed', fixture.owner, true],
      ['connection_lost', another, true],
      ['taken_over', fixture.owner, true],
      ['taken_over', another, false],
      ['hub_stopping', fixture.owner, false],
      ['hub_closed', fixture.owner, false],
    ] as const;
    const [fence, targets] = await verifyingJob(cases.length);
    for (const [index, { deviceId }] of targets.entries()) {
      const [reason, gatewayId] = cases[index] ?? cases[0];
      await returns(deviceId, reason, '1.0.0', gatewayId);
    }
    const look = await fixture.targetVerification.verifying(fence, AT + 6_000);
    const left = new Map(look.targets.map(({ deviceId, hasLeft }) => [deviceId, hasLeft]));
    expect(targets.map(({ deviceId }) => left.get(deviceId))).toEqual(cases.map(([, , hasLeft]) => hasLeft));
  });

  it('know since when a device runs what it should', async () => {
    const imageId = randomUUID();
    await fixture.db.query(
      {
        text: `INSERT INTO firmware_image (id, kind, file_name, project, version, chip, size_bytes, sha256, storage_key,
                 uploaded_at, uploaded_by)
          VALUES ($1, 'FIRMWARE', 'x.bin', 'xiaozhi', '2.0.0', 'esp32s3', 1, 'x', 'x', now(), 'spec')`,
      },
      [imageId],
    );
    const [fence, [good, bad]] = await verifyingJob(2, { verification: 'FIRMWARE', firmwareImageId: imageId });
    await returns(good.deviceId, 'device_closed', '2.0.0');
    await returns(bad.deviceId, 'device_closed', '1.0.0');
    const { targets } = await fixture.targetVerification.verifying(fence, AT + 6_000);
    const byId = new Map(targets.map((target) => [target.deviceId, target]));
    expect(byId.get(good.deviceId)).toMatchObject({
      version: '2.0.0',
      expectedVersion: '2.0.0',
      backSince: AT + 5_000,
    });
    expect(byId.get(bad.deviceId)).toMatchObject({ version: '1.0.0', backSince: undefined });
  });

  it('are decided once, or go back in line, with the counters', async () => {
    const [fence, [one, other]] = await verifyingJob(2, { verification: 'FIRMWARE' });
    const error = { code: 'NOT_APPLIED_OR_ROLLED_BACK', message: 'it is back on 1.0.0' } as const;
    const ends = [
      { deviceId: one.deviceId, claim: one.claim, to: { kind: 'decided', outcome: 'SUCCEEDED', error: undefined } },
      { deviceId: other.deviceId, claim: other.claim, to: { kind: 'again', retry: 'NEXT_ATTEMPT', error } },
    ] as const;
    expect(
      await fixture.targetVerification.settleVerifications({ ...fence, fence: fence.fence - 1 }, ends, AT),
    ).toEqual([]);
    expect(await fixture.targetVerification.settleVerifications(fence, ends, AT)).toHaveLength(2);
    expect(await fixture.targetVerification.settleVerifications(fence, ends, AT)).toEqual([]);
    await expectProgress(fence.jobId, { verifying: 0, succeeded: 1, pending: 1 });
    const targetOf = async (deviceId: string) => {
      const [page] = await fixture.jobs.targets([fence.jobId], {}, { first: 5 });
      return page?.rows.find((row) => row.deviceId === deviceId);
    };
    expect(await targetOf(other.deviceId)).toMatchObject({ state: 'READY', error });
    expect(await fixture.targetQueue.claim(fence, 5, AT)).toMatchObject([
      { deviceId: other.deviceId, claim: other.claim + 1 },
    ]);
  });

  it('are what a crash leaves of a tool with a verification, and get time to come back', async () => {
    const [fence] = await sentJob(2);
    expect(await fixture.targetQueue.recover(fence, AT + 5_000, { deadlineMs: 60_000, softMs: 20_000 })).toMatchObject({
      resent: 0,
      verifying: 2,
      unknown: 0,
    });
    await expectProgress(fence.jobId, { verifying: 2 });
    expect((await fixture.targetVerification.verifying(fence, AT + 21_000)).targets).toMatchObject([
      { callError: { code: 'HUB_RESTARTED' }, deadlineAt: AT + 60_000, softDeadlineAt: AT + 20_000 },
      {},
    ]);
    await fixture.targetVerification.extendVerifying(fence, AT + 100_000);
    expect((await fixture.targetVerification.verifying(fence, AT + 99_000)).targets).toEqual([]);
  });

  it('get that time also where only the soft deadline is near', async () => {
    const [fence] = await sentJob(2);
    await fixture.targetQueue.recover(fence, AT + 5_000, { deadlineMs: 1_200_000, softMs: 20_000 });
    await fixture.targetVerification.extendVerifying(fence, AT + 100_000);
    expect((await fixture.targetVerification.verifying(fence, AT + 99_000)).targets).toEqual([]);
    expect((await fixture.targetVerification.verifying(fence, AT + 101_000)).targets).toMatchObject([
      { deadlineAt: AT + 1_200_000, softDeadlineAt: AT + 100_000 },
      {},
    ]);
  });

  it('end UNKNOWN in a forced cancel, and the counters agree', async () => {
    const [fence] = await verifyingJob(2);
    expect(
      await fixture.targetQueue.endInFlight(fence, { code: 'SESSION_CLOSED', message: 'forced' }, AT),
    ).toMatchObject({
      count: 2,
    });
    await expectProgress(fence.jobId, { verifying: 0, inFlight: 0, unknown: 2 });
  });

  it('are read when they are due and their device is there, and again later', async () => {
    const [fence, [present, absent]] = await verifyingJob(2, { verification: 'READBACK' });
    await fixture.setOnline(absent.deviceId, false);
    const due = { at: AT + 700, againAt: AT + 10_000 };
    expect(await fixture.targetVerification.claimReadbacks(fence, 5, { at: AT + 500, againAt: AT + 10_000 })).toEqual(
      [],
    );
    expect(await fixture.targetVerification.claimReadbacks(fence, 5, due)).toMatchObject([
      { deviceId: present.deviceId, epoch: 1, gatewayId: fixture.owner },
    ]);
    expect(await fixture.targetVerification.claimReadbacks(fence, 5, due)).toEqual([]);
    expect(
      await fixture.targetVerification.claimReadbacks(fence, 5, { at: AT + 10_000, againAt: AT + 20_000 }),
    ).toHaveLength(1);
  });

  it('count as overdue past their soft deadline while their device is away and loads nothing', async () => {
    const [fence, [lost, loading]] = await verifyingJob(3);
    await fixture.setOnline(lost.deviceId, false);
    await fixture.setOnline(loading.deviceId, false);
    await fixture.db.query(
      {
        text: `INSERT INTO download (id, image_id, device_id, job_id, expires_at, last_byte_at)
               VALUES ($1, $1, $2, $3, now(), $4)`,
      },
      [randomUUID(), loading.deviceId, fence.jobId, new Date(AT + 29_000)],
    );
    expect(await fixture.targetVerification.overdue(fence.jobId, AT + 29_999, 5_000)).toEqual(new Map());
    expect(await fixture.targetVerification.overdue(fence.jobId, AT + 30_000, 5_000)).toEqual(new Map([[1, 1]]));
    expect(await fixture.targetVerification.overdue(fence.jobId, AT + 40_000, 5_000)).toEqual(new Map([[1, 2]]));
  });
});
