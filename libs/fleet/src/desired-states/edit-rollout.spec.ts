/** Roll-outs of edits by a job: their gates, their end and their rights, over a real database. */
import type { JobId } from '@flotilla/mcp';
import { describe, expect, it, vi } from 'vitest';
import { admin, hubTimeZone } from '../fleet-fixture.suite.js';
import type { DesiredStateRunner } from './controller/desired-state-runner.js';
import { requestOf } from './desired-fixture.suite.js';
import type { DesiredFixture } from './desired-fixture.suite.js';
import { DAY_MS, editedInWaves, inSync, wave, waves, withRollouts } from './rollout-fixture.suite.js';

describe('the roll-out of an edit', () => {
  let world: DesiredFixture;
  let runner: DesiredStateRunner;

  withRollouts((opened, started) => {
    world = opened;
    runner = started;
  });

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
    const { state, jobId, owner } = await editedInWaves(world);
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
    const { state, jobId } = await editedInWaves(world);
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

  it.each([
    [undefined, hubTimeZone],
    ['Europe/Berlin', 'Europe/Berlin'],
  ])('has its window in the zone of the hub, unless it names one: %s', async (zone, used) => {
    const window = { from: '22:00', to: '07:00', ...(zone && { zone }) };
    const state = await world.save({ devices: { ids: ['a'] }, waves, window });
    expect(await world.hub.job(state.rolloutJobId as JobId)).toMatchObject({ window: { ...window, zone: used } });
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
    const { state, jobId, owner } = await editedInWaves(world);
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
    const { state, owner } = await editedInWaves(world);
    for (const enabled of [false, true]) await fleet.setDesiredStateEnabled(state.id, enabled, admin);
    const { rolloutJobId } = await world.row(state);
    expect(await world.hub.job(rolloutJobId as JobId)).toMatchObject({ createdById: owner.id, mayCallUserOnly: false });
    expect(admin).toMatchObject({ mayCallUserOnly: true });
  });

  it('has the rights of who saved its desired state last, also just before it is enabled', async () => {
    const { fleet, registry } = world.hub;
    const { state, owner } = await editedInWaves(world);
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
