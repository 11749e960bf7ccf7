/**
 * Roll-outs over a real database: which devices are sent or offered an image, how many at once, and
 * the way back.
 */
import { randomUUID } from 'node:crypto';
import type { DeviceId } from '@flotilla/mcp';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { admin, boardTools, deviceNames, openHub, operator } from '../fleet-fixture.suite.js';
import type { HubFixture, HubProcess } from '../fleet-fixture.suite.js';
import { newId } from '../new-id.js';
import { RolloutFixture } from './rollout-fixture.suite.js';
import { defaultRolloutLimits } from './rollout-limits.js';

describe('a roll-out', () => {
  let fixture: HubFixture;
  let hub: HubProcess;
  let rollout: RolloutFixture;

  beforeAll(async () => {
    fixture = await openHub();
    hub = fixture.hub;
    rollout = new RolloutFixture(hub);
  });
  beforeEach(() => {
    hub.gateway.forget();
    hub.gateway.behave = () => undefined;
  });
  afterAll(() => fixture.close());

  it('needs a published image, and a caller who may change firmware', async () => {
    const image = await rollout.published('1.9.0', []);
    const request = { firmwareImageId: image.id, devices: { all: true } };
    expect(await hub.fleet.createJob(request, randomUUID(), admin)).toMatchObject({ refusal: { code: 'CONFLICT' } });
    expect(await hub.fleet.createJob(request, randomUUID(), operator)).toMatchObject({
      refusal: { code: 'TOOL_FORBIDDEN' },
    });
    const unknown = { ...request, firmwareImageId: newId(hub.clock.now()) };
    expect(await hub.fleet.createJob(unknown, randomUUID(), admin)).toMatchObject({ refusal: { code: 'NOT_FOUND' } });
  });

  it('sends each device its own address', async () => {
    const image = await rollout.published('2.0.0');
    const ids = ['one', 'other'];
    await hub.connect(ids, boardTools, '1.0.0');
    rollout.install('2.0.0');
    const jobId = await rollout.started(image, ids);
    expect(await hub.finished(jobId)).toMatchObject({ conclusion: 'SUCCEEDED', tool: 'self.upgrade_firmware' });
    expect((await rollout.targets(jobId)).get('one')).toMatchObject({ outcome: 'SUCCEEDED', baselineVersion: '1.0.0' });
    const downloads = await hub.registry.downloads.ofTargets(ids.map((deviceId) => ({ jobId, deviceId })));
    const urlOf = new Map(downloads.map(({ deviceId, id }) => [deviceId, `https://hub.example/t/download/${id}`]));
    expect(urlOf.size).toBe(2);
    for (const { deviceId, call } of hub.gateway.seen) expect(call.arguments).toEqual({ url: urlOf.get(deviceId) });
  });

  it('sends no more devices at once than may download at once', async () => {
    const image = await rollout.published('2.1.0');
    const ids = deviceNames(60, 'many');
    await hub.connect(ids);
    const jobId = await rollout.started(image, ids);
    await hub.clock.until(() => hub.gateway.callCount).toBe(defaultRolloutLimits.downloadsMax);
    const [download] = await hub.registry.downloads.ofTargets(ids.map((deviceId) => ({ jobId, deviceId })));
    if (download === undefined) throw new TypeError('No download.');
    await hub.registry.downloads.progress({
      id: download.id,
      requests: 1,
      bytes: 1_000,
      isComplete: true,
      at: hub.clock.now(),
    });
    await hub.clock.until(() => hub.gateway.callCount).toBe(defaultRolloutLimits.downloadsMax + 1);
    await hub.fleet.cancelJob(jobId, true, admin);
    await hub.finished(jobId);
    expect(await hub.registry.jobCommands.reconcile(jobId)).toBe(0);
  });

  it('offers the image to a device that was away, once, and verifies it by what comes back', async () => {
    const image = await rollout.published('2.2.0');
    await hub.connect(['away', 'paused']);
    await hub.disconnect('away');
    await hub.disconnect('paused');
    expect(await rollout.offered('away')).toBeUndefined();
    const jobId = await rollout.started(image, ['away', 'paused']);
    await hub.clock.until(() => hub.job(jobId)).toMatchObject({ state: 'RUNNING' });
    expect(await rollout.offered('away', { model: 'other-board' })).toBeUndefined();
    expect(
      await rollout.offered('away', { board: { chip: 'esp32c3', otaPartitions: 2, elfSha256: undefined } }),
    ).toBeUndefined();
    const both = await Promise.all([rollout.offered('away'), rollout.offered('away')]);
    expect(both.filter((offer) => offer !== undefined)).toMatchObject([{ version: '2.2.0' }]);
    expect((await rollout.targets(jobId)).get('away')).toMatchObject({
      state: 'VERIFYING',
      attempts: 1,
      baselineVersion: '1.0.0',
    });
    await hub.fleet.pauseJob(jobId, admin);
    expect(await rollout.offered('paused')).toBeUndefined();
    await hub.fleet.resumeJob(jobId, admin);
    await hub.connect(['away'], boardTools, '2.2.0');
    await hub.clock
      .until(async () => (await rollout.targets(jobId)).get('away'))
      .toMatchObject({ outcome: 'SUCCEEDED' });
    expect(hub.gateway.callCount).toBe(0);
    await hub.fleet.cancelJob(jobId, true, admin);
    await hub.finished(jobId);
    expect(await hub.registry.jobCommands.reconcile(jobId)).toBe(0);
  });

  it('does not go on with a device that fetches the image again and again', async () => {
    const image = await rollout.published('2.3.0');
    await hub.connect(['in-vain']);
    const id = newId(hub.clock.now());
    const before = {
      id,
      imageId: image.id,
      deviceId: 'in-vain' as DeviceId,
      jobId: newId(hub.clock.now()),
      expiresAt: hub.clock.now() + 1_000,
    };
    await hub.registry.downloads.add(before);
    await hub.registry.downloads.progress({ id, requests: 3, bytes: 3_000, isComplete: true, at: hub.clock.now() });
    const jobId = await rollout.started(image, ['in-vain']);
    await hub.finished(jobId);
    expect((await rollout.targets(jobId)).get('in-vain')).toMatchObject({
      outcome: 'VERIFY_FAILED',
      error: { code: 'DOWNLOADS_IN_VAIN' },
    });
    expect(hub.gateway.callCount).toBe(0);
  });

  it('brings an image back to a device that ran it before and was given another one, however often', async () => {
    const image = await rollout.published('2.6.0');
    const deviceId = 'to-and-fro' as DeviceId;
    rollout.install('2.6.0');
    for (const round of [1, 2]) {
      await hub.connect([deviceId], boardTools, '1.0.0');
      const jobId = await rollout.started(image, [deviceId]);
      await hub.finished(jobId);
      expect((await rollout.targets(jobId)).get(deviceId), `round ${round}`).toMatchObject({ outcome: 'SUCCEEDED' });
      const [{ id } = { id: '' }] = await hub.registry.downloads.ofTargets([{ jobId, deviceId }]);
      await hub.registry.downloads.progress({ id, requests: 3, bytes: 3_000, isComplete: true, at: hub.clock.now() });
    }
  });

  it('is run again for those that ended so, with the image as it is now', async () => {
    const image = await rollout.published('2.4.0');
    await hub.connect(['stubborn', 'willing'], boardTools, '1.0.0');
    rollout.install((deviceId) => (deviceId === 'willing' ? '2.4.0' : '1.0.0'));
    const jobId = await rollout.started(image, ['stubborn', 'willing'], { maxInFlight: 7 });
    await hub.finished(jobId);
    expect((await rollout.targets(jobId)).get('stubborn')).toMatchObject({ outcome: 'VERIFY_FAILED' });
    hub.gateway.forget();
    rollout.install('2.4.0');
    const again = async (key: string) => hub.fleet.rerunJob(jobId, { outcomes: ['VERIFY_FAILED'] }, key, admin);
    const key = randomUUID();
    const { job } = await again(key);
    expect(job).toMatchObject({
      parentJobId: jobId,
      firmwareImageId: image.id,
      verification: 'FIRMWARE',
      maxInFlight: 7,
    });
    if (job === undefined) throw new TypeError('No job.');
    expect(await hub.finished(job.id)).toMatchObject({ conclusion: 'SUCCEEDED', total: 1 });
    expect([...hub.gateway.callsByDevice.keys()]).toEqual(['stubborn']);
    expect((await again(key)).job?.id).toBe(job.id);
    expect(
      (await hub.fleet.rerunJob(jobId, { outcomes: ['VERIFY_FAILED'] }, randomUUID(), operator)).refusal?.code,
    ).toBe('TOOL_FORBIDDEN');
    await hub.registry.firmwareImages.withdraw(image.id, hub.clock.now());
    expect((await again(randomUUID())).refusal?.message).toContain('withdrawn');
  });

  it('is taken back to what each device ran before', async () => {
    const [bad, former] = [await rollout.published('3.1.0', ['board']), '3.0.0'];
    await hub.connect(['went', 'stayed'], boardTools, former);
    const warnings = async () => {
      const asked = { firmwareImageId: bad.id, devices: { ids: ['went', 'stayed'] } };
      return (await hub.fleet.previewJob(asked, admin)).warnings.filter(({ code }) => code === 'FORMER_IMAGE_MISSING');
    };
    expect(await warnings()).toMatchObject([{ deviceCount: 2, details: ['board 3.0.0'] }]);
    rollout.install(bad.version);
    const jobId = await rollout.started(bad, ['went']);
    await hub.finished(jobId);
    const key = randomUUID();
    expect((await hub.fleet.revertJob(jobId, key, admin)).refusal?.message).toContain(
      '1 devices of the board board had 3.0.0',
    );
    const image = await rollout.published(former);
    expect(await warnings()).toEqual([]);
    // A key for the devices that are online sees no past, so also no targets of this job.
    const going = (onlySeen: boolean) => {
      const revertOf = { jobId, version: former, imageId: image.id, onlySeen };
      return hub.registry.targetPreparation.countDevices({ within: { presence: 'ONLINE' }, any: [{ revertOf }] }, 9);
    };
    expect([await going(false), await going(true)]).toEqual([1, 0]);
    rollout.install(former);
    const [one, again] = await Promise.all([1, 2].map(() => hub.fleet.revertJob(jobId, key, admin)));
    const job = one?.job;
    expect(again?.job?.id).toBe(job?.id);
    expect(job).toMatchObject({ parentJobId: jobId, firmwareImageId: image.id });
    if (job === undefined) throw new TypeError('No job.');
    expect(await hub.finished(job.id)).toMatchObject({ conclusion: 'SUCCEEDED', total: 1 });
    expect((await hub.fleet.revertJob(jobId, key, admin)).job?.id).toBe(job.id);
    expect((await hub.fleet.revertJob(jobId, randomUUID(), admin)).refusal).toMatchObject({ code: 'CONFLICT' });
  });
});
