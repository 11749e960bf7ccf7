/** What a roll-out of an edit leaves alone: devices that a job has reached, or is calling. */
import type { JobId } from '@flotilla/mcp';
import type { DesiredStateRow } from '@flotilla/registry';
import { describe, expect, it } from 'vitest';
import { admin } from '../fleet-fixture.suite.js';
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

  it.each(['enabled', 'saved'])('leaves what it has reached when its desired state is %s again', async (change) => {
    const { state, jobId, owner, request } = await editedInWaves(world, { perMinute: 20 });
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
});
