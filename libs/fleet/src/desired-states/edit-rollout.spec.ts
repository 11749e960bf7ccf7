/** Roll-outs of edits by a job, over a real database and devices with a volume. */
import type { JobId } from '@flotilla/mcp';
import type { DesiredStateRow } from '@flotilla/registry';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { admin } from '../fleet-fixture.suite.js';
import type { DesiredStateRunner } from './controller/desired-state-runner.js';
import { openDesiredFixture, requestOf } from './desired-fixture.suite.js';
import type { DesiredFixture } from './desired-fixture.suite.js';

const wave = { count: 1, successThreshold: 0.9, soakSeconds: 0, gate: 'MANUAL' as const };
const waves = [wave];
const DAY_MS = 24 * 3_600_000;
const inSync = { a: 'IN_SYNC', b: 'IN_SYNC', c: 'IN_SYNC' };

describe('the roll-out of an edit', () => {
  let world: DesiredFixture;
  let runner: DesiredStateRunner;

  beforeEach(async () => {
    world = await openDesiredFixture();
    await world.hub.connect(['a', 'b', 'c']);
    runner = world.openRunner();
    await runner.load();
  });
  afterEach(() => world.close());

  /** The roll-out of an edit that waits at the gate of its first wave, which has one device. */
  async function editedInWaves(pace: { readonly perMinute?: number } = {}) {
    const state = await world.save({ devices: { ids: ['a', 'b', 'c'] } });
    await world.hub.clock.until(() => world.states(state)).toEqual(inSync);
    const { name, devices } = state;
    const request = requestOf({ name, devices, arguments: { volume: 70 }, waves, ...pace });
    const owner = { ...admin, id: state.savedById, mayCallTools: true };
    const edited = await world.hub.fleet.updateDesiredState(state.id, 1, request, owner);
    const jobId = 'state' in edited ? (edited.state.rolloutJobId as JobId) : ('' as JobId);
    await world.hub.clock.until(async () => (await world.hub.job(jobId)).pauseReason).toBe('WAVE_GATE');
    return { state, jobId, owner, request };
  }

  /** A roll-out whose time has run out after one of three devices, and the one that goes on. */
  async function expiredAfterOne(plan: Parameters<DesiredFixture['save']>[0]) {
    const { clock, finished, progress } = world.hub;
    const state = await world.save({ devices: { ids: ['a', 'b', 'c'] }, ...plan });
    const expired = state.rolloutJobId as JobId;
    await clock.until(() => progress(expired)).toMatchObject({ succeeded: 1, pending: 2 });
    const publishes = vi.spyOn(world.hub.bus.feed, 'publish');
    clock.step(31 * DAY_MS);
    expect(await finished(expired)).toMatchObject({ conclusion: 'PARTIAL' });
    await runner.load();
    // Open pages name the job that goes on before it calls a device.
    expect(publishes).toHaveBeenCalledWith('desiredState', { id: state.id });
    publishes.mockRestore();
    const next = (await world.row(state)).rolloutJobId as JobId;
    expect(next).not.toBe(expired);
    return { state, next };
  }

  it('leaves the former generation where it has not come, and goes on when its gate opens', async () => {
    const { state, jobId, owner } = await editedInWaves();
    const loud = () => ['a', 'b', 'c'].filter((id) => world.volumes.get(id) === 70).length;
    expect(loud()).toBe(1);
    await world.hub.clock.pass(10_000);
    const generations = async () => (await world.targets(state)).map((row) => row.observedGeneration).sort();
    expect(await generations()).toEqual([1, 1, 2]);
    expect([loud(), await world.states(state)]).toEqual([1, inSync]);
    await world.hub.fleet.openNextWave(jobId, owner);
    await world.hub.finished(jobId);
    await world.hub.clock.until(generations).toEqual([2, 2, 2]);
    expect(loud()).toBe(3);
  });

  it('ends when the hub pauses the desired state, because its owner may not call tools any more', async () => {
    const actor = await world.makeActor();
    const state = await world.save({ devices: { ids: ['a', 'b', 'c'] }, waves }, actor);
    const jobId = state.rolloutJobId as JobId;
    await world.hub.clock.until(async () => (await world.hub.job(jobId)).pauseReason).toBe('WAVE_GATE');
    await world.hub.fleet.revokeApiKey(actor.keyId, admin);
    await world.hub.clock.until(() => world.row(state)).toMatchObject({ enabled: false });
    expect(await world.hub.finished(jobId)).toMatchObject({ conclusion: 'CANCELLED' });
    expect([...world.sets.values()]).toEqual([1]);
  });

  it('leaves the former generation where no person opened its gate until it expired', async () => {
    const { state, jobId } = await editedInWaves();
    world.hub.clock.step(29 * DAY_MS);
    await world.hub.clock.pass(10_000);
    expect(await world.hub.job(jobId)).toMatchObject({ pauseReason: 'WAVE_GATE' });
    world.hub.clock.step(2 * DAY_MS);
    expect(await world.hub.finished(jobId)).toMatchObject({ conclusion: 'PARTIAL' });
    await runner.load();
    const reads = vi.spyOn(world.hub.registry.targetPreparation, 'lastDecidedAt');
    await world.hub.clock.pass(10_000);
    // The verdict on a job that has ended does not change.
    expect(reads).not.toHaveBeenCalled();
    const generations = (await world.targets(state)).map((row) => row.observedGeneration);
    expect(generations.sort()).toEqual([1, 1, 2]);
    expect((await world.row(state)).rolloutJobId).toBe(jobId);
  });

  it('goes on with another job where its time ran out, for the devices that it has not reached', async () => {
    const { state, next } = await expiredAfterOne({ perMinute: 20, waves: [{ ...wave, count: 3 }] });
    expect(await world.hub.finished(next)).toMatchObject({ conclusion: 'SUCCEEDED', total: 2 });
    await runner.load();
    await world.hub.clock.until(() => world.states(state)).toEqual(inSync);
    expect((await world.row(state)).settledGeneration).toBe(1);
  });

  it('goes on where its time ran out between two waves, and no person had to decide', async () => {
    const { next } = await expiredAfterOne({ waves: [{ ...wave, soakSeconds: 3_600, gate: 'AUTO' }] });
    await world.hub.clock.until(async () => (await world.hub.job(next)).total).toBe(2);
  });

  it.each(['enabled', 'saved'])('leaves what it has reached when its desired state is %s again', async (change) => {
    const { state, jobId, owner, request } = await editedInWaves({ perMinute: 20 });
    const reached = ['a', 'b', 'c'].find((id) => world.volumes.get(id) === 70) ?? '';
    await world.turn(reached, 70);
    const sets = world.sets.get(reached);
    await world.hub.fleet.setDesiredStateEnabled(state.id, false, owner);
    await world.hub.finished(jobId);
    if (change === 'enabled') await world.hub.fleet.setDesiredStateEnabled(state.id, true, owner);
    else await world.hub.fleet.updateDesiredState(state.id, 2, { ...request, arguments: { volume: 71 } }, owner);
    await runner.load();
    // At its pace, the next roll-out sends nothing yet.
    await world.hub.clock.pass(2_000);
    const row = (await world.targets(state)).find(({ deviceId }) => deviceId === reached);
    expect(row).toMatchObject({ observedGeneration: 2, state: 'IN_SYNC' });
    expect([world.volumes.get(reached), world.sets.get(reached)]).toEqual([70, sets]);
  });

  it('blocks a desired state of lower priority also while it calls the device', async () => {
    const { clock, fleet, gateway } = world.hub;
    const devices = { ids: ['a'] };
    const low = await world.save({ devices, arguments: { volume: 10 }, onDrift: 'REVERT' });
    const { id, name, savedById } = await world.save({ devices, priority: 5 });
    const high = { id } as DesiredStateRow;
    await clock.until(() => world.states(high)).toEqual({ a: 'IN_SYNC' });
    await clock.until(() => world.states(low)).toEqual({ a: 'OVERRIDDEN' });
    const behave = gateway.behave;
    let answer: (() => void) | undefined;
    gateway.behave = (call, settle) => {
      if (call.call.arguments['volume'] !== 70) return behave(call, settle);
      answer = () => behave(call, settle);
    };
    const request = requestOf({ name, devices, priority: 5, arguments: { volume: 70 }, waves });
    await fleet.updateDesiredState(id, 1, request, { ...admin, id: savedById, mayCallTools: true });
    await clock.until(() => answer !== undefined).toBe(true);
    const sets = world.sets.get('a');
    await world.turn('a', 45);
    await clock.pass(3_000);
    expect([world.volumes.get('a'), world.sets.get('a')]).toEqual([45, sets]);
    expect(await world.states(low)).toEqual({ a: 'OVERRIDDEN' });
    gateway.behave = behave;
    answer?.();
    await clock.until(() => world.volumes.get('a')).toBe(70);
    await clock.until(() => world.states(high)).toEqual({ a: 'IN_SYNC' });
  });

  it('leaves a device that it is calling while its desired state is saved again', async () => {
    const { clock, fleet, gateway } = world.hub;
    const devices = { ids: ['a', 'b', 'c'] };
    const { id, name, savedById } = await world.save({ devices, onDrift: 'REVERT' });
    const state = { id } as DesiredStateRow;
    await clock.until(() => world.states(state)).toEqual(inSync);
    const behave = gateway.behave;
    let called = '';
    // It has its new volume; the answer is late.
    gateway.behave = (call, settle) => {
      if (call.call.arguments['volume'] !== 70) return behave(call, settle);
      called = call.deviceId;
    };
    const request = requestOf({ name, devices, onDrift: 'REVERT', arguments: { volume: 70 }, waves });
    const owner = { ...admin, id: savedById, mayCallTools: true };
    await fleet.updateDesiredState(id, 1, request, owner);
    await clock.until(() => called).not.toBe('');
    await fleet.updateDesiredState(id, 2, { ...request, arguments: { volume: 71 }, perMinute: 20 }, owner);
    await runner.load();
    await world.turn(called, 70);
    await clock.pass(2_000);
    const row = (await world.targets(state)).find(({ deviceId }) => deviceId === called);
    // APPLYING would set the volume of the first generation.
    expect(row).toMatchObject({ observedGeneration: 1, state: 'IN_SYNC' });
  });

  it.each([
    ['the next edit goes out at once', []],
    ['an edit after two more roll-outs goes out at once', [71, 72]],
  ])('leaves a device that it is calling until that has ended, also when %s', async (_, between) => {
    const { clock, fleet, gateway } = world.hub;
    const devices = { ids: ['a', 'b', 'c'] };
    const { id, name, savedById } = await world.save({ devices });
    const state = { id } as DesiredStateRow;
    await clock.until(() => world.states(state)).toEqual(inSync);
    const behave = gateway.behave;
    let [called, arrive] = ['', (): void => undefined];
    gateway.behave = (call, settle) => {
      if (call.call.arguments['volume'] !== 70) return behave(call, settle);
      [called, arrive] = [call.deviceId, () => behave(call, settle)];
    };
    const request = requestOf({ name, devices, arguments: { volume: 70 } });
    const owner = { ...admin, id: savedById, mayCallTools: true };
    await fleet.updateDesiredState(id, 1, { ...request, waves }, owner);
    await clock.until(() => called).not.toBe('');
    for (const [index, volume] of between.entries())
      await fleet.updateDesiredState(id, 2 + index, { ...request, arguments: { volume }, waves }, owner);
    await fleet.updateDesiredState(id, 2 + between.length, { ...request, arguments: { volume: 80 } }, owner);
    await runner.load();
    const loud = () => devices.ids.filter((each) => world.volumes.get(each) === 80);
    await clock.until(loud).toHaveLength(2);
    await clock.pass(1_000);
    expect(loud()).toEqual(devices.ids.filter((each) => each !== called));
    arrive();
    await clock.until(loud).toHaveLength(3);
    await clock.until(() => world.states(state)).toEqual(inSync);
  });

  it('leaves what a job has reached whose time ran out, also when its desired state is enabled again', async () => {
    const { clock, fleet } = world.hub;
    const { id, name, devices, savedById } = await world.save({ devices: { ids: ['a', 'b', 'c'] } });
    const state = { id } as DesiredStateRow;
    await clock.until(() => world.states(state)).toEqual(inSync);
    const request = requestOf({
      name,
      devices,
      arguments: { volume: 70 },
      perMinute: 20,
      waves: [{ ...wave, count: 3 }],
    });
    const owner = { ...admin, id: savedById, mayCallTools: true };
    await fleet.updateDesiredState(id, 1, request, owner);
    const expired = (await world.row(state)).rolloutJobId as JobId;
    await clock.until(() => world.hub.progress(expired)).toMatchObject({ succeeded: 1, pending: 2 });
    const reached = ['a', 'b', 'c'].find((each) => world.volumes.get(each) === 70) ?? '';
    await world.turn(reached, 70);
    const sets = world.sets.get(reached);
    clock.step(31 * DAY_MS);
    await world.hub.finished(expired);
    await runner.load();
    expect((await world.row(state)).rolloutJobId).not.toBe(expired);
    const found = async () => {
      await runner.load();
      await clock.pass(2_000);
      const row = (await world.targets(state)).find(({ deviceId }) => deviceId === reached);
      return [row?.observedGeneration, world.volumes.get(reached), world.sets.get(reached)];
    };
    expect(await found()).toEqual([2, 70, sets]);
    for (const enabled of [false, true]) await fleet.setDesiredStateEnabled(id, enabled, owner);
    expect(await found()).toEqual([2, 70, sets]);
  });

  it('is cancelled if its desired state is disabled while it is made', async () => {
    const store = world.hub.registry.desiredStateStore;
    const begin = store.startRollout.bind(store);
    const actor = await world.makeActor();
    let jobId: string | undefined;
    const begins = vi.spyOn(store, 'startRollout').mockImplementationOnce(async (row, job) => {
      jobId = job;
      await world.hub.fleet.setDesiredStateEnabled(row.id, false, actor);
      return begin(row, job);
    });
    await world.save({ devices: { ids: ['a'] }, waves }, actor);
    begins.mockRestore();
    expect(await world.hub.job(jobId as JobId)).toMatchObject({ conclusion: 'CANCELLED' });
  });

  it('begins again when its desired state is disabled and enabled', async () => {
    const { state, jobId, owner } = await editedInWaves();
    await world.hub.fleet.setDesiredStateEnabled(state.id, false, owner);
    expect(await world.hub.finished(jobId)).toMatchObject({ conclusion: 'CANCELLED' });
    const enabled = await world.hub.fleet.setDesiredStateEnabled(state.id, true, owner);
    const next = 'state' in enabled ? (enabled.state.rolloutJobId as JobId) : jobId;
    expect(next).not.toBe(jobId);
    await world.hub.clock.until(async () => (await world.hub.job(next)).pauseReason).toBe('WAVE_GATE');
    await world.hub.fleet.openNextWave(next, owner);
    expect(await world.hub.finished(next)).toMatchObject({ conclusion: 'SUCCEEDED' });
    await world.hub.clock.until(async () => (await world.row(state)).settledGeneration).toBe(2);
  });

  it('has the rights of who saved its desired state, also where another person enables it', async () => {
    const { fleet } = world.hub;
    const { state, owner } = await editedInWaves();
    for (const enabled of [false, true]) await fleet.setDesiredStateEnabled(state.id, enabled, admin);
    const { rolloutJobId } = await world.row(state);
    expect(await world.hub.job(rolloutJobId as JobId)).toMatchObject({ createdById: owner.id, mayCallUserOnly: false });
    expect(admin).toMatchObject({ mayCallUserOnly: true });
  });

  it('has the rights of who saved its desired state last, also just before it is enabled', async () => {
    const { fleet, registry } = world.hub;
    const { state, owner } = await editedInWaves();
    await fleet.setDesiredStateEnabled(state.id, false, admin);
    const former = await world.makeActor();
    const read = { ...(await world.row(state)), savedById: former.id };
    vi.spyOn(registry.desiredStateStore, 'find').mockResolvedValueOnce(read);
    await fleet.setDesiredStateEnabled(state.id, true, admin);
    const { rolloutJobId } = await world.row(state);
    expect(await world.hub.job(rolloutJobId as JobId)).toMatchObject({ createdById: owner.id });
  });

  const changes = ['edited', 'disabled', 'deleted'];
  it.each(changes)('is cancelled if its desired state is %s just after it was made', async (change) => {
    const state = await world.save({ devices: { ids: ['a'] }, waves });
    const jobId = state.rolloutJobId as JobId;
    const owner = { ...admin, id: state.savedById, mayCallTools: true };
    const store = world.hub.registry.desiredStateStore;
    // The change began before the worker noted the job.
    vi.spyOn(store, 'find').mockResolvedValueOnce({ ...state, rolloutJobId: undefined });
    if (change === 'disabled') await world.hub.fleet.setDesiredStateEnabled(state.id, false, owner);
    else if (change === 'deleted') await world.hub.fleet.deleteDesiredState(state.id, owner);
    else await world.hub.fleet.updateDesiredState(state.id, 1, requestOf({ name: state.name, waves }), owner);
    expect(await world.hub.finished(jobId)).toMatchObject({ conclusion: 'CANCELLED' });
  });
});
