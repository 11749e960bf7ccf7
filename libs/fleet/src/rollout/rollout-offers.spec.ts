/**
 * Offers at the OTA check, over a real database: limited by pace, waves and downloads, and judged
 * by what the device does next.
 */
import type { DeviceId, JobId } from '@flotilla/mcp';
import type { OtaContact, RolloutLimits } from '@flotilla/registry';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { boardTools, deviceNames, openHub } from '../fleet-fixture.suite.js';
import type { HubFixture, HubProcess } from '../fleet-fixture.suite.js';
import { newId } from '../new-id.js';
import { RolloutFixture } from './rollout-fixture.suite.js';
import { defaultRolloutLimits } from './rollout-limits.js';

describe('an offer', () => {
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

  /** Until the job would offer to so many devices. */
  async function waiting(jobId: JobId, count: number): Promise<void> {
    const look = async () => ({ ...(await hub.progress(jobId)), state: (await hub.job(jobId)).state });
    await hub.clock.until(look).toMatchObject({ state: 'RUNNING', waitingDevice: count });
  }

  /** Those of these devices that are offered something, asked one after the other. */
  async function offeredOf(
    ids: readonly string[],
    change: Partial<OtaContact> = {},
    limits: Partial<RolloutLimits> = {},
  ) {
    const found: string[] = [];
    for (const id of ids) if ((await rollout.offered(id, change, limits)) !== undefined) found.push(id);
    return found;
  }

  it('is made at the pace of its job, which begins at an eighth, and faster when devices have come back', async () => {
    const ids = deviceNames(10, 'paced');
    await rollout.away(...ids);
    const jobId = await rollout.started(await rollout.published('2.0.0'), ids, { perMinute: 16 });
    await waiting(jobId, 10);
    const first = await offeredOf(ids);
    expect(first).toHaveLength(2);
    expect(await offeredOf(ids)).toHaveLength(0);
    expect(await offeredOf(ids, { at: hub.clock.now() + 61_000 })).toHaveLength(2);
    await hub.connect(first, boardTools, '2.0.0');
    await hub.clock.until(() => hub.progress(jobId)).toMatchObject({ succeeded: 2 });
    expect(await offeredOf(ids, { at: hub.clock.now() + 125_000, firmwareVersion: '1.0.0' })).toHaveLength(4);
    await rollout.cancelled(jobId);
  });

  it('is made within `maxInFlight` of the job, and within the places of the hub', async () => {
    const ids = deviceNames(6, 'narrow');
    await rollout.away(...ids);
    const jobId = await rollout.started(await rollout.published('2.1.0'), ids, { maxInFlight: 2 });
    await waiting(jobId, 6);
    expect(await offeredOf(ids)).toHaveLength(2);
    await rollout.cancelled(jobId);
    const wide = await rollout.started(await rollout.published('2.1.1'), ids);
    await waiting(wide, 6);
    expect(await offeredOf(ids, {}, { downloadsMax: 4 })).toHaveLength(4);
    await rollout.cancelled(wide);
  });

  it('is made to devices of the open wave only', async () => {
    const ids = deviceNames(6, 'waved');
    await rollout.away(...ids);
    const waves = [{ count: 2, successThreshold: 1, soakSeconds: 0, gate: 'AUTO' }] as const;
    const jobId = await rollout.started(await rollout.published('2.2.0'), ids, { waves });
    await waiting(jobId, 2);
    const first = await offeredOf(ids);
    const rows = await rollout.targets(jobId);
    expect(first).toHaveLength(2);
    expect(first.every((id) => rows.get(id)?.wave === 1)).toBe(true);
    await hub.connect(first, boardTools, '2.2.0');
    await waiting(jobId, 4);
    expect(await offeredOf(ids, { firmwareVersion: '1.0.0' })).toHaveLength(4);
    await rollout.cancelled(jobId);
  });

  it('ends the target of a device that only talks, and has the version already', async () => {
    await rollout.away('talks', 'waits');
    const jobId = await rollout.started(await rollout.published('2.2.5'), ['talks', 'waits']);
    await waiting(jobId, 2);
    expect(await rollout.offered('talks', { firmwareVersion: '2.2.5' })).toBeUndefined();
    expect(await hub.progress(jobId)).toMatchObject({ waitingDevice: 1, noChange: 1 });
    expect(await rollout.offered('waits', { firmwareVersion: '2.2.5' })).toBeUndefined();
    expect(await hub.finished(jobId)).toMatchObject({ conclusion: 'SUCCEEDED' });
  });

  it('is not made when its turn comes too late for the device', async () => {
    await rollout.away('patient');
    const jobId = await rollout.started(await rollout.published('2.3.1'), ['patient']);
    await waiting(jobId, 1);
    const { rollouts } = hub.registry;
    const deadlines = { deadlineMs: 1_000, softMs: 500 };
    const ask = (mayBegin: boolean) =>
      rollouts.offer(jobId, rollout.contactOf('patient'), deadlines, defaultRolloutLimits, () => mayBegin);
    expect(await ask(false)).toBeUndefined();
    expect((await rollout.targets(jobId)).get('patient')).toMatchObject({ state: 'WAITING_DEVICE', attempts: 0 });
    expect(await ask(true)).toBeDefined();
    await rollout.cancelled(jobId);
  });

  it('is not made to a device that has fetched the image again and again', async () => {
    const image = await rollout.published('2.5.0');
    await rollout.away('loops');
    const id = newId(hub.clock.now());
    const before = {
      id,
      imageId: image.id,
      deviceId: 'loops' as DeviceId,
      jobId: newId(hub.clock.now()),
      expiresAt: hub.clock.now() + 1_000,
    };
    await hub.registry.downloads.add(before);
    await hub.registry.downloads.progress({ id, requests: 3, bytes: 3_000, isComplete: true, at: hub.clock.now() });
    const jobId = await rollout.started(image, ['loops']);
    await waiting(jobId, 1);
    expect(await rollout.offered('loops')).toBeUndefined();
    await rollout.cancelled(jobId);
  });
});
