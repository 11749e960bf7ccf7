/** Offers without anybody who would stop their roll-out: none is made. [jobs §17] */
import { randomUUID } from 'node:crypto';
import type { DeviceId, JobId } from '@flotilla/mcp';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FirmwareImageStore } from '../../firmware/firmware-image-store.js';
import type { JobFence } from '../job-fence.js';
import type { OtaContact } from '../../provisioning/provisioning.js';
import { addImage, openJobFixture, type JobFixture } from '../job-fixture.suite.js';
import { RolloutStore } from './rollout-store.js';

const limits = { downloadsMax: 50, grantMs: 60_000, stallMs: 60_000, loopWindowMs: 60_000, loopDownloads: 3 };
const deadlines = { deadlineMs: 60_000, softMs: 30_000 };
const rollout = {
  tool: 'self.upgrade_firmware',
  disruptive: true,
  disconnectExpected: true,
  verification: 'FIRMWARE',
  createdAt: Date.now(),
  expiresAt: Date.now() + 3_600_000,
} as const;

describe('an offer of a running roll-out', () => {
  let fixture: JobFixture;
  let rollouts: RolloutStore;
  let firmwareImageId: string;
  let contact: OtaContact;
  let fence: JobFence;

  beforeAll(async () => {
    fixture = await openJobFixture();
    rollouts = new RolloutStore(fixture.db);
    const images = new FirmwareImageStore(fixture.db);
    firmwareImageId = await addImage(images);
    await images.publish({ id: firmwareImageId, models: ['board'], notes: undefined, at: Date.now() });
  });
  beforeEach(async () => {
    const [deviceId] = await fixture.addDevices(1, false);
    fence = await fixture.runningJob({ ...rollout, firmwareImageId, devices: { ids: [deviceId ?? ''] } });
    const told = { model: 'board', firmwareVersion: '2.4.0', remoteAddress: undefined, clientUuid: randomUUID() };
    contact = { deviceId: deviceId as DeviceId, at: Date.now(), ...told };
  });
  afterAll(() => fixture.close());

  const offered = async () => (await rollouts.offer(fence.jobId, contact, deadlines, limits, () => true)) !== undefined;
  const isCandidate = async () => (await rollouts.candidate(contact, limits))?.jobId === fence.jobId;

  it('is made once while the job has an owner', async () => {
    expect([await isCandidate(), await offered(), await offered()]).toEqual([true, true, false]);
  });

  it('takes a place of the hub until its download is complete, expired or stalled', async () => {
    const at = Date.now();
    const room = (afterMs = 0) => rollouts.room(fence.jobId, at + afterMs, { ...limits, downloadsMax: 100 });
    const serve = (lastByteAt: number, completedAt: Date | null = null) =>
      fixture.db.query({ text: 'UPDATE download SET last_byte_at = $2, completed_at = $3 WHERE job_id = $1' }, [
        fence.jobId,
        new Date(lastByteAt),
        completedAt,
      ]);
    const before = await room();
    expect(await offered()).toBe(true);
    expect(await room()).toBe(before - 1);
    expect(await room(limits.grantMs + 1_000)).toBeGreaterThanOrEqual(before);
    await serve(at);
    expect(await room()).toBe(before - 1);
    await serve(at - limits.stallMs - 1);
    expect(await room()).toBe(before);
    await serve(at, new Date(at));
    expect(await room()).toBe(before);
  });

  it('is made at the base pace for as long as too many devices fail', async () => {
    const ids = await fixture.addDevices(8, false);
    const abortRules = [
      { outcomes: ['VERIFY_FAILED'], scope: 'JOB', ratio: 0.5, minDecided: 100, action: 'PAUSE' },
    ] as const;
    const { jobId } = await fixture.runningJob({
      ...rollout,
      disruptive: false,
      firmwareImageId,
      devices: { ids },
      perMinute: 80,
      abortRules,
    });
    const at = Date.now();
    const room = (afterMs = 0) => rollouts.room(jobId, at + afterMs, { ...limits, downloadsMax: 1_000 });
    const decide = (deviceId: DeviceId | undefined, outcome: string, wave = 1) =>
      fixture.db.query(
        {
          text: `UPDATE job_target SET state = 'DECIDED', outcome = $3::outcome, decided_at = $4, wave = $5
                 WHERE job_id = $1 AND device_id = $2`,
        },
        [jobId, deviceId, outcome, new Date(at), wave],
      );
    expect(await room()).toBe(80);
    // Refused at preparation: that is not evidence.
    await decide(ids[7], 'REJECTED', 0);
    expect(await room()).toBe(80);
    for (const id of ids.slice(0, 3)) await decide(id, 'SUCCEEDED');
    await decide(ids[3], 'VERIFY_FAILED');
    // A quarter is half of what the rule allows, and no more than that.
    expect(await room()).toBe(80);
    await decide(ids[4], 'UNKNOWN');
    expect(await room()).toBe(10);
    expect(await room(61_000)).toBe(80);
  });

  it('is of a later roll-out where the device does not keep the image of the oldest', async () => {
    const images = new FirmwareImageStore(fixture.db);
    const later = await addImage(images);
    await fixture.db.query({ text: `UPDATE firmware_image SET version = '2.6.0' WHERE id = $1` }, [later]);
    await images.publish({ id: later, models: ['board'], notes: undefined, at: Date.now() });
    const { jobId } = await fixture.runningJob({
      ...rollout,
      // Ids of jobs have their time first, except in specs.
      id: 'ffffffff-ffff-7fff-bfff-ffffffffffff' as JobId,
      firmwareImageId: later,
      devices: { ids: [contact.deviceId] },
    });
    expect(await isCandidate()).toBe(true);
    await fixture.db.query(
      {
        text: `INSERT INTO download (id, image_id, device_id, job_id, expires_at, bytes_served, last_byte_at)
               SELECT gen_random_uuid(), i.id, $2, gen_random_uuid(), now(), 3 * i.size_bytes, now()
               FROM firmware_image i WHERE i.id = $1`,
      },
      [firmwareImageId, contact.deviceId],
    );
    expect((await rollouts.candidate(contact, limits))?.jobId).toBe(jobId);
    expect(await rollouts.offer(jobId, contact, deadlines, limits, () => true)).toBeDefined();
  });

  it('is not made to a device that reports the version: its target ends once, like one that was current', async () => {
    const ended = (firmwareVersion: string) => rollouts.endCurrent({ ...contact, firmwareVersion });
    const [image] = await fixture.db.query<{ version: string }>(
      { text: 'SELECT version FROM firmware_image WHERE id = $1' },
      [firmwareImageId],
    );
    expect(await ended('2.4.0')).toEqual([]);
    const version = image?.version ?? '';
    expect([await ended(version), await ended(version)]).toEqual([[fence.jobId], []]);
    const [page] = await fixture.jobs.targets([fence.jobId], {}, { first: 9 });
    expect(page?.rows).toMatchObject([
      {
        state: 'DECIDED',
        outcome: 'NO_CHANGE',
        attempts: 0,
        error: { code: 'ALREADY_CURRENT', message: `The device runs ${version} already.` },
      },
    ]);
    expect((await fixture.jobs.progress([fence.jobId])).get(fence.jobId)).toMatchObject({ total: 1, noChange: 1 });
  });

  it('is not made after the job has expired, even before the owner notices', async () => {
    const past = "now() - interval '1 second'";
    await fixture.db.query({ text: `UPDATE job SET expires_at = ${past} WHERE id = $1` }, [fence.jobId]);
    expect([await isCandidate(), await offered()]).toEqual([false, false]);
  });

  it('is not made without a living owner, who would close the window and apply the abort rules', async () => {
    const mortal = await fixture.addProcess();
    await fixture.db.query({ text: 'UPDATE job SET owner_id = $2 WHERE id = $1' }, [fence.jobId, mortal]);
    await fixture.endLease(mortal);
    expect([await isCandidate(), await offered()]).toEqual([false, false]);
    expect(await fixture.targetQueue.takeOwnership(fence.jobId, fixture.owner)).toBeDefined();
    expect([await isCandidate(), await offered()]).toEqual([true, true]);
  });
});

describe('the room for downloads', () => {
  let fixture: JobFixture;

  beforeAll(async () => {
    fixture = await openJobFixture();
  });
  afterAll(() => fixture.close());

  it('counts one place for a target that was granted one, was put back, and is sent again', async () => {
    const rollouts = new RolloutStore(fixture.db);
    const images = new FirmwareImageStore(fixture.db);
    const firmwareImageId = await addImage(images);
    await images.publish({ id: firmwareImageId, models: ['board'], notes: undefined, at: Date.now() });
    const [deviceId] = await fixture.addDevices(1);
    await fixture.db.query({ text: `UPDATE device SET model = 'board' WHERE id = $1` }, [deviceId]);
    const fence = await fixture.runningJob({ ...rollout, firmwareImageId });
    for (let sends = 1; sends <= 3; sends += 1) {
      const at = Date.now();
      const [target] = await fixture.targetQueue.claim(fence, 1, at);
      if (target === undefined) throw new TypeError('Nothing was claimed.');
      expect((await rollouts.grant(fence, [target.deviceId], at, limits)).get(target.deviceId)?.kind).toBe('granted');
      expect(await rollouts.room(fence.jobId, at, limits)).toBe(limits.downloadsMax - 1);
      const putBack = { deviceId: target.deviceId, claim: target.claim, startedAt: undefined, at };
      await fixture.targetQueue.flush(fence, [{ ...putBack, to: { kind: 'ready' } }]);
    }
  });
});
