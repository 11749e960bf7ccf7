/** OTA requests and downloads as evidence: a device booted, or the hub cut a download. */
import { randomUUID } from 'node:crypto';
import type { VerifyingTarget } from '@flotilla/jobs';
import type { DeviceId, HubProcessId } from '@flotilla/mcp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DownloadStore, NO_PROCESS } from '../../firmware/download-store.js';
import { FirmwareImageStore } from '../../firmware/firmware-image-store.js';
import type { NewJob } from '../commands/new-job.js';
import type { JobFence } from '../job-fence.js';
import type { TargetFlush } from '../queue/target-flush.js';
import type { ClaimedTarget } from '../queue/target-queue.js';
import type { OtaContact } from '../../provisioning/provisioning.js';
import { openContactWriter } from '../../provisioning/credentials/contact-writer.js';
import { hashOf } from '../../secrets/secrets.js';
import { openJobFixture, type JobFixture } from '../job-fixture.suite.js';
import { AT } from '../new-job.suite.js';
import { RolloutStore } from '../rollout/rollout-store.js';

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const limits = { downloadsMax: 1_000, grantMs: 600_000, stallMs: 60_000, loopWindowMs: 60_000, loopDownloads: 3 };
const deadlines = { deadlineMs: 60_000, softMs: 30_000 };
const clientUuid = randomUUID();
const answered = { code: 'UPDATE_DID_NOT_START_OR_FAILED', message: 'it answered' } as const;
const cutOff = { code: 'NOT_APPLIED_OR_ROLLED_BACK', message: 'it is back on 1.0.0' } as const;

let fixture: JobFixture;
let imageId: string;
let writer: ReturnType<typeof openContactWriter>;
let downloads: DownloadStore;
/** As if the clock of the job were now: offers go by the time of the OTA request. */
const now = Date.now();

beforeAll(async () => {
  fixture = await openJobFixture();
  writer = openContactWriter(fixture.db, silent, () => undefined);
  downloads = new DownloadStore(fixture.db, silent);
  const images = new FirmwareImageStore(fixture.db);
  imageId = randomUUID();
  const facts = {
    project: 'xiaozhi',
    version: '2.0.0',
    chip: 'esp32s3',
    idfVersion: undefined,
    sizeBytes: 1_000,
    elfSha256: undefined,
  };
  const file = { uploadedAt: AT, uploadedBy: 'spec', storageKey: 'x', fileName: 'x.bin', sha256: randomUUID() };
  await images.add({ id: imageId, kind: 'FIRMWARE', ...facts, ...file });
  await images.publish({ id: imageId, models: ['board'], notes: undefined, at: AT });
});
afterAll(async () => {
  await writer.close();
  await downloads.close();
  await fixture.close();
});

const upgrade: Partial<NewJob> = {
  tool: 'self.upgrade_firmware',
  disruptive: true,
  disconnectExpected: true,
  verification: 'FIRMWARE',
};

async function device(): Promise<DeviceId> {
  const [id] = await fixture.addDevices(1);
  if (id === undefined) throw new TypeError('No device.');
  const text = `UPDATE device SET model = 'board', firmware_version = '1.0.0', client_uuid_hash = $2, connected_at = $3
    WHERE id = $1`;
  await fixture.db.query({ text }, [id, hashOf(clientUuid), new Date(AT - 1_000)]);
  return id;
}

interface Sent {
  readonly id: DeviceId;
  readonly fence: JobFence;
  readonly target: ClaimedTarget;
  readonly downloadId: string;
}

/** A roll-out to one device that was sent its image at AT, by the process with its session. */
async function sentImage(error?: typeof answered, change: Partial<NewJob> = {}): Promise<Sent> {
  const id = await device();
  const expiresAt = now + 3_600_000;
  const fence = await fixture.runningJob({
    ...upgrade,
    firmwareImageId: imageId,
    devices: { ids: [id] },
    expiresAt,
    ...change,
  });
  const [target] = await fixture.targetQueue.claim(fence, 1, AT);
  if (target === undefined) throw new TypeError('Nothing was claimed.');
  const grant = (await new RolloutStore(fixture.db).grant(fence, [id], AT, limits)).get(id);
  const to = { kind: 'verifying', certainty: 'YES', error, result: undefined, readAt: undefined } as const;
  const flush: TargetFlush = {
    deviceId: id,
    claim: target.claim,
    startedAt: AT,
    at: AT + 100,
    to: { ...to, deadlineAt: AT + 60_000, softDeadlineAt: AT + 30_000 },
  };
  await fixture.targetQueue.flush(fence, [flush]);
  return { id, fence, target, downloadId: grant?.kind === 'granted' ? grant.downloadId : '' };
}

/** The device as a look finds it, if there is something to say about it. */
async function seen({ fence, id }: Pick<Sent, 'fence' | 'id'>, at = AT + 10_000): Promise<VerifyingTarget | undefined> {
  return (await fixture.targetVerification.verifying(fence, at)).targets.find(({ deviceId }) => deviceId === id);
}

const contact = (deviceId: DeviceId, change: Partial<OtaContact> = {}): OtaContact => ({
  deviceId,
  clientUuid,
  model: 'board',
  firmwareVersion: '2.0.0',
  remoteAddress: undefined,
  at: AT + 5_000,
  ...change,
});

const served = (id: string, serverId: HubProcessId, bytes = 0) =>
  downloads.progress({ id, requests: 1, bytes, isComplete: false, serverId, at: AT + 4_000 });

describe('an OTA request after the send', () => {
  it('is evidence with its time and version, and the newest one counts', async () => {
    const sent = await sentImage();
    expect(await seen(sent)).toBeUndefined();
    await writer.add(contact(sent.id));
    expect(await seen(sent)).toMatchObject({
      bootedAt: AT + 5_000,
      bootVersion: '2.0.0',
      expectedVersion: '2.0.0',
      epoch: 1,
    });
    await writer.add(contact(sent.id, { at: AT + 8_000, firmwareVersion: '1.0.0' }));
    await writer.add(contact(sent.id, { at: AT + 7_000 }));
    expect(await seen(sent)).toMatchObject({ bootedAt: AT + 8_000, bootVersion: '1.0.0' });
  });

  it.each([
    ['came before the send', { at: AT }],
    ['has another Client-Id', { clientUuid: randomUUID() }],
  ])('is not found if it %s', async (_, change) => {
    const sent = await sentImage();
    await writer.add(contact(sent.id, change));
    expect(await seen(sent)).toBeUndefined();
  });

  it('counts where it is on record before its target is marked as sent', async () => {
    const id = await device();
    const fence = await fixture.runningJob({ verification: 'REBOOT', devices: { ids: [id] } });
    await fixture.targetQueue.claim(fence, 1, AT);
    await writer.add(contact(id, { at: AT + 50 }));
    await fixture.targetQueue.markSent(fence, [id]);
    await fixture.targetQueue.recover(fence, AT + 100, { deadlineMs: 60_000, softMs: undefined });
    expect(await seen({ fence, id })).toMatchObject({ bootedAt: AT + 50 });
  });

  it('keeps a device from counting as lost', async () => {
    const sent = await sentImage();
    await fixture.setOnline(sent.id, false);
    const overdue = async () =>
      (await fixture.targetVerification.overdue(sent.fence.jobId, AT + 40_000, 0)).get(1) ?? 0;
    expect(await overdue()).toBe(1);
    await writer.add(contact(sent.id));
    expect(await overdue()).toBe(0);
  });
});

describe('a download', () => {
  const stateOf = async (sent: Sent) => {
    await writer.add(contact(sent.id, { firmwareVersion: '1.0.0' }));
    return (await seen(sent))?.download;
  };

  it('is open while its process lives, and cut when that ends first', async () => {
    const sent = await sentImage();
    const server = await fixture.addProcess();
    await served(sent.downloadId, server, 500);
    expect(await stateOf(sent)).toBe('OPEN');
    await fixture.endLease(server);
    expect(await stateOf(sent)).toBe('CUT');
    await fixture.db.query({ text: 'DELETE FROM hub_process WHERE id = $1' }, [server]);
    expect(await stateOf(sent)).toBe('CUT');
  });

  it('was cut where its process could not read the image, until another request for it', async () => {
    const sent = await sentImage();
    const server = await fixture.addProcess();
    await served(sent.downloadId, server, 500);
    await served(sent.downloadId, NO_PROCESS, 500);
    expect(await stateOf(sent)).toBe('CUT');
    await served(sent.downloadId, server, 500);
    expect(await stateOf(sent)).toBe('OPEN');
  });

  it('that never began was cut where the process of its device has ended', async () => {
    const gateway = await fixture.addProcess();
    const id = await device();
    await fixture.db.query({ text: 'UPDATE device SET gateway_id = $2 WHERE id = $1' }, [id, gateway]);
    const fence = await fixture.runningJob({ ...upgrade, firmwareImageId: imageId, devices: { ids: [id] } });
    await fixture.targetQueue.claim(fence, 1, AT);
    await new RolloutStore(fixture.db).grant(fence, [id], AT, limits);
    await fixture.targetQueue.recover(fence, AT + 100, deadlines);
    await fixture.endLease(gateway);
    await writer.add(contact(id, { firmwareVersion: '1.0.0' }));
    expect(await seen({ fence, id })).toMatchObject({ download: 'CUT', cutRetries: 0, attempts: 1 });
  });

  it.each([
    ['its device broke off', { isBrokenOff: true }],
    ['was completed', { isComplete: true }],
  ])('that %s is over, also if its process ends', async (_, end) => {
    const sent = await sentImage();
    const server = await fixture.addProcess(false);
    await served(sent.downloadId, server, 500);
    await downloads.progress({
      id: sent.downloadId,
      requests: 0,
      bytes: 10,
      isComplete: false,
      at: AT + 4_100,
      ...end,
    });
    expect(await stateOf(sent)).toBe('OVER');
  });

  it('that never began is over where the device answered at the process that was to serve it', async () => {
    const sent = await sentImage(answered);
    expect(await seen(sent)).toMatchObject({ hasAnswered: true, download: 'OVER' });
    const other = await sentImage(answered);
    await served(other.downloadId, await fixture.addProcess(), 500);
    expect(await seen(other)).toMatchObject({ hasAnswered: true, download: 'OPEN' });
  });
});

describe('a target whose download the hub cut', () => {
  async function cut(change: Partial<NewJob> = {}): Promise<Sent> {
    const sent = await sentImage(undefined, change);
    await served(sent.downloadId, await fixture.addProcess(false), 500);
    return sent;
  }

  const again = ({ id, target }: Sent) =>
    ({ deviceId: id, claim: target.claim, to: { kind: 'again', retry: 'SAME_ATTEMPT', error: cutOff } }) as const;
  const rowOf = async ({ fence }: Sent) => (await fixture.jobs.targets([fence.jobId], {}, { first: 1 }))[0]?.rows[0];

  it('is sent again as the same attempt, frees its place, and has the count with it', async () => {
    const sent = await cut();
    const room = () => new RolloutStore(fixture.db).room(sent.fence.jobId, AT + 6_000, limits);
    const before = await room();
    expect(await fixture.targetVerification.settleVerifications(sent.fence, [again(sent)], AT + 6_000)).toEqual([
      sent.id,
    ]);
    expect(await rowOf(sent)).toMatchObject({ state: 'READY', attempts: 1 });
    expect(await room()).toBe(before + 1);
    const [claimed] = await fixture.targetQueue.claim(sent.fence, 1, AT + 7_000);
    expect(claimed).toMatchObject({ deviceId: sent.id, claim: sent.target.claim + 1 });
    expect(await rowOf(sent)).toMatchObject({ state: 'DISPATCHING', attempts: 1 });
    await fixture.targetQueue.recover(sent.fence, AT + 8_000, deadlines);
    await writer.add(contact(sent.id, { at: AT + 9_000, firmwareVersion: '1.0.0' }));
    expect(await seen(sent)).toMatchObject({ attempts: 1, cutRetries: 1 });
    expect(await fixture.jobCommands.reconcile(sent.fence.jobId)).toBe(0);
  });

  it('keeps what it ended in where the job is cancelled before it is sent again', async () => {
    const sent = await cut();
    await fixture.targetVerification.settleVerifications(sent.fence, [again(sent)], AT + 6_000);
    await fixture.targetQueue.endNeverSent(sent.fence, 'CANCELLED', AT + 7_000);
    expect(await rowOf(sent)).toMatchObject({ outcome: 'VERIFY_FAILED', attempts: 1, error: cutOff });
  });

  it('is offered its image at the OTA request that says that it runs its old firmware, once', async () => {
    const sent = await cut();
    const process = await fixture.addProcess();
    const rollouts = new RolloutStore(fixture.db, () => process);
    const asks = contact(sent.id, { at: now, firmwareVersion: '1.0.0' });
    expect(await rollouts.candidate({ ...asks, firmwareVersion: '1.5.0' }, limits)).toBeUndefined();
    expect(await rollouts.candidate(asks, limits)).toMatchObject({ jobId: sent.fence.jobId });
    const offer = () => rollouts.offer(sent.fence.jobId, asks, deadlines, limits, () => true);
    expect(await offer()).toMatchObject({ kind: 'granted' });
    expect(await rowOf(sent)).toMatchObject({ state: 'VERIFYING', attempts: 1 });
    expect(await fixture.jobCommands.reconcile(sent.fence.jobId)).toBe(0);
    // The request that it was offered at is no evidence about what follows.
    await writer.add(asks);
    expect(await seen(sent, now + 1_000)).toBeUndefined();
    await fixture.endLease(process);
    expect([await rollouts.candidate(asks, limits), await offer()]).toEqual([undefined, undefined]);
  });

  it('is not offered it where the download is still open', async () => {
    const sent = await sentImage();
    await served(sent.downloadId, await fixture.addProcess(), 500);
    expect(
      await new RolloutStore(fixture.db).candidate(contact(sent.id, { firmwareVersion: '1.0.0' }), limits),
    ).toBeUndefined();
  });
});
