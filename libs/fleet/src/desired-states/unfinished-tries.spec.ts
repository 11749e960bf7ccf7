/** Sets under way while their device, their desired state or their claim is lost. */
import type { DeviceId, JobId } from '@flotilla/mcp';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { admin } from '../fleet-fixture.suite.js';
import { DeviceQueue } from './controller/device-queue.js';
import { openDesiredFixture, requestOf, VOLUME } from './desired-fixture.suite.js';
import type { DesiredFixture } from './desired-fixture.suite.js';

describe('a set under way', () => {
  let world: DesiredFixture;

  beforeEach(async () => {
    world = await openDesiredFixture();
    await world.hub.connect(['a']);
    await world.openRunner().load();
  });
  afterEach(() => world.close());

  /** Holds the answer to the next set until the returned function is called. */
  function holdNextSet(): { readonly isHeld: () => boolean; readonly answer: () => void } {
    const { behave } = world.hub.gateway;
    let answer: (() => void) | undefined;
    world.hub.gateway.behave = (routed, settle) => {
      if (routed.call.tool !== VOLUME || answer !== undefined) return behave(routed, settle);
      answer = () => behave(routed, settle);
    };
    return { isHeld: () => answer !== undefined, answer: () => answer?.() };
  }

  it('does not keep a device that leaves its desired state meanwhile from others', async () => {
    const { devices } = world.hub.registry;
    await devices.update('a', { tags: ['shop'] });
    const set = holdNextSet();
    const left = await world.save({ devices: { tags: ['shop'] } });
    await world.hub.clock.until(() => set.isHeld()).toBe(true);
    await devices.update('a', { tags: [] });
    world.hub.bus.feed.publish('device', { deviceId: 'a' as DeviceId });
    const other = await world.save({ devices: { ids: ['a'] }, arguments: { volume: 70 } });
    await world.hub.clock.pass(2_000);
    set.answer();
    await world.hub.clock.until(() => world.states(left)).toEqual({});
    await world.hub.clock.until(() => world.states(other)).toEqual({ a: 'IN_SYNC' });
    expect(world.volumes.get('a')).toBe(70);
  });

  it('ends where the roll-out of an edit has taken its device meanwhile', async () => {
    const set = holdNextSet();
    const state = await world.save({ devices: { ids: ['a'] } });
    await world.hub.clock.until(() => set.isHeld()).toBe(true);
    const waves = [{ count: 1, successThreshold: 0.9, soakSeconds: 0, gate: 'MANUAL' as const }];
    const request = requestOf({ name: state.name, devices: state.devices, arguments: { volume: 70 }, waves });
    const owner = { ...admin, id: state.savedById, mayCallTools: true };
    const ofJob = holdNextSet();
    const edited = await world.hub.fleet.updateDesiredState(state.id, 1, request, owner);
    await world.hub.clock.until(() => ofJob.isHeld()).toBe(true);
    set.answer();
    await world.hub.clock.pass(2_000);
    ofJob.answer();
    await world.hub.finished('state' in edited ? (edited.state.rolloutJobId as JobId) : ('' as JobId));
    await world.hub.clock.until(() => world.states(state)).toEqual({ a: 'IN_SYNC' });
    expect(await world.targets(state)).toMatchObject([{ observedGeneration: 2, isSending: false }]);
    expect(world.volumes.get('a')).toBe(70);
  });

  it('is sent after all where the answer to its claim was lost', async () => {
    const queue = world.hub.registry.desiredStateQueue;
    const claim = queue.claim.bind(queue);
    const claims = vi.spyOn(queue, 'claim').mockImplementationOnce(async (...targets) => {
      await claim(...targets);
      throw new Error('Connection terminated unexpectedly');
    });
    const state = await world.save({ devices: { ids: ['a'] } });
    await world.hub.clock.until(() => world.states(state)).toEqual({ a: 'IN_SYNC' });
    claims.mockRestore();
    expect(world.sets.get('a')).toBe(1);
  });

  it('that fails while a look reads its entry counts as failed, and is tried again after its back-off', async () => {
    const { behave } = world.hub.gateway;
    let fail: (() => void) | undefined;
    world.hub.gateway.behave = (routed, settle) => {
      if (routed.call.tool !== VOLUME || fail !== undefined) return behave(routed, settle);
      const error = { code: 'DEVICE_ERROR', message: 'broken' } as const;
      fail = () => settle({ kind: 'FAILED', certainty: 'YES', error });
    };
    const state = await world.save({ devices: { ids: ['a'] } });
    await world.hub.clock.until(() => fail !== undefined).toBe(true);
    const added = vi.spyOn(DeviceQueue.prototype, 'add');
    const queue = world.hub.registry.desiredStateQueue;
    const rows = queue.rows.bind(queue);
    const reads = vi.spyOn(queue, 'rows').mockImplementationOnce(async (...keys) => {
      const found = await rows(...keys);
      fail?.();
      await vi.waitFor(() => expect(added.mock.calls.some(([, { ends }]) => ends.has(state.id))).toBe(true));
      return found;
    });
    world.hub.bus.feed.publish('device', { deviceId: 'a' as DeviceId, presence: 'ONLINE' });
    await world.hub.clock.until(() => added.mock.calls.length).toBeGreaterThan(1);
    await world.hub.clock.pass(200);
    for (const spy of [added, reads]) spy.mockRestore();
    expect(await world.targets(state)).toMatchObject([
      { state: 'RETRYING', attempts: 1, error: { code: 'DEVICE_ERROR' } },
    ]);
  });
});
