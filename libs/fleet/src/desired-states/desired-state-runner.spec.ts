/** The worker of desired states, over a real database and devices with a volume. */
import type { DeviceId } from '@flotilla/mcp';
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, it } from 'vitest';
import { admin, boardTools } from '../fleet-fixture.suite.js';
import type { DesiredStateRunner } from './controller/desired-state-runner.js';
import { openDesiredFixture, requestOf, serveVolumes, VOLUME } from './desired-fixture.suite.js';
import type { DesiredFixture } from './desired-fixture.suite.js';
import type { DesiredStateRow } from '@flotilla/registry';

describe('the worker of desired states', () => {
  let world: DesiredFixture;
  let runner: DesiredStateRunner;
  const made: DesiredStateRow[] = [];

  beforeAll(async () => {
    world = await openDesiredFixture();
    await world.hub.connect(['a', 'b', 'c']);
  });
  beforeEach(async () => {
    runner = world.openRunner();
    await runner.load();
    world.sets.clear();
    for (const id of ['a', 'b', 'c']) world.volumes.set(id, 50);
    serveVolumes(world.hub, world.volumes, world.sets);
  });
  afterEach(async () => {
    for (const { id } of made.splice(0)) await world.hub.fleet.deleteDesiredState(id, admin);
    await world.hub.clock.during(runner.handOver(1_000));
  });
  afterAll(() => world.close());

  async function saved(change: Parameters<typeof requestOf>[0]): Promise<DesiredStateRow> {
    const state = await world.save({ devices: { ids: ['a', 'b', 'c'] }, ...change });
    made.push(state);
    return state;
  }

  const until = (state: DesiredStateRow) => world.hub.clock.until(() => world.states(state));
  const inSync = { a: 'IN_SYNC', b: 'IN_SYNC', c: 'IN_SYNC' };

  async function summary({ id }: DesiredStateRow): Promise<Readonly<Record<string, number>>> {
    const [row] = await world.hub.registry.desiredStates.summaries([id]);
    return Object.fromEntries(row?.counts ?? []);
  }

  it('sets what differs, and sends nothing to devices in sync', async () => {
    world.volumes.set('b', 30);
    const state = await saved({});
    await until(state).toEqual(inSync);
    expect(Object.fromEntries(world.sets)).toEqual({ a: 1, c: 1 });
    expect(await summary(state)).toEqual({ IN_SYNC: 3 });
    const { rows } = await world.hub.registry.calls.page({ deviceId: 'a' as DeviceId }, { first: 1 });
    expect(rows).toMatchObject([{ tool: VOLUME, actor: `desired-state:${state.name}`, outcome: 'SUCCEEDED' }]);
    await world.hub.clock
      .until(() => world.hub.registry.desiredStateStore.find(state.id))
      .toMatchObject({
        t95Ms: expect.any(Number),
      });
  });

  it('applies an edit to all, and skips what is there already', async () => {
    const state = await saved({});
    await until(state).toEqual(inSync);
    world.sets.clear();
    await world.turn('c', 45);
    const request = requestOf({ name: state.name, devices: state.devices, arguments: { volume: 45 } });
    const { savedById } = state;
    await world.hub.fleet.updateDesiredState(state.id, 1, request, { ...admin, id: savedById, mayCallTools: true });
    await until(state).toEqual(inSync);
    await world.hub.clock.until(() => Object.fromEntries(world.sets)).toEqual({ a: 1, b: 1 });
    expect((await world.targets(state)).map(({ observedGeneration }) => observedGeneration)).toEqual([2, 2, 2]);
  });

  it('waits for a device that is away, and applies within two seconds of its return', async () => {
    await world.hub.disconnect('a');
    const state = await saved({});
    await until(state).toMatchObject({ a: 'WAITING_DEVICE', b: 'IN_SYNC' });
    await world.hub.connect(['a']);
    const readyAt = world.hub.clock.now();
    await until(state).toEqual(inSync);
    expect(world.hub.clock.now() - readyAt).toBeLessThanOrEqual(2_000);
  });

  it('holds a value that a person changed, and reverts it where the state says so', async () => {
    const [held, reverted] = [
      await saved({ devices: { ids: ['a'] }, holdSeconds: 10 }),
      await saved({
        devices: { ids: ['b'] },
        onDrift: 'REVERT' as const,
      }),
    ];
    await until(held).toEqual({ a: 'IN_SYNC' });
    await until(reverted).toEqual({ b: 'IN_SYNC' });
    world.sets.clear();
    await world.turn('a', 80);
    await world.turn('b', 80);
    await until(held).toEqual({ a: 'HELD' });
    await world.hub.clock.until(() => world.volumes.get('b')).toBe(30);
    await world.hub.clock.pass(7_000);
    expect(world.sets.get('a')).toBeUndefined();
    await world.hub.clock.pass(3_000);
    await until(held).toEqual({ a: 'IN_SYNC' });
    expect(Object.fromEntries(world.sets)).toEqual({ a: 1, b: 1 });
    const { rows } = await world.hub.registry.events.page({ types: ['device.drifted'] }, 'AT_DESC', { first: 10 });
    const drifted = ({ id }: { readonly id: string }) =>
      rows.filter(({ data }) => data['desiredStateId'] === id).map(({ deviceId }) => deviceId);
    expect([drifted(held), drifted(reverted)]).toEqual([['a'], ['b']]);
  });

  it('writes no argument of a tool that is user-only on any device into an event', async () => {
    await world.hub.connect(
      ['guarded'],
      boardTools.map((tool) => ({ ...tool, userOnly: true })),
    );
    const state = await saved({ devices: { ids: ['a'] }, onDrift: 'HOLD' });
    await until(state).toEqual({ a: 'IN_SYNC' });
    await world.turn('a', 70);
    await until(state).toEqual({ a: 'HELD' });
    const { events } = world.hub.registry;
    await expect
      .poll(async () => (await events.page({ types: ['device.drifted'] }, 'AT_DESC', { first: 1 })).rows[0]?.data)
      .toMatchObject({ desiredStateId: state.id, desired: '***', reported: 70 });
  });

  it('covers devices that begin to match, and forgets those that stop', async () => {
    const state = await saved({ devices: { tags: ['shop'] } });
    const { devices } = world.hub.registry;
    const tag = async (tags: readonly string[]) => {
      await devices.update('b', { tags });
      world.hub.bus.feed.publish('device', { deviceId: 'b' as DeviceId });
    };
    await tag(['shop']);
    await until(state).toEqual({ b: 'IN_SYNC' });
    await tag([]);
    await until(state).toEqual({});
    expect(await summary(state)).toEqual({});
    expect(world.volumes.get('b')).toBe(30);
  });

  it('lets the higher one apply, and the lower one at once when that is gone', async () => {
    const low = await saved({ devices: { ids: ['a'] }, arguments: { volume: 10 } });
    await until(low).toEqual({ a: 'IN_SYNC' });
    const high = await saved({ devices: { ids: ['a'] }, arguments: { volume: 90 }, priority: 5 });
    await until(high).toEqual({ a: 'IN_SYNC' });
    await until(low).toEqual({ a: 'OVERRIDDEN' });
    const equal = await saved({ devices: { ids: ['a'] }, arguments: { volume: 60 }, priority: 5 });
    await until(equal).toEqual({ a: 'CONFLICT' });
    await until(high).toEqual({ a: 'CONFLICT' });
    expect(world.volumes.get('a')).toBe(90);
    for (const { id } of [equal, high]) await world.hub.fleet.deleteDesiredState(id, admin);
    await until(low).toEqual({ a: 'IN_SYNC' });
    expect(world.volumes.get('a')).toBe(10);
  });

  it('tries again after 5, 10, 20 and 40 seconds, and then leaves it', async () => {
    const sends: number[] = [];
    const behave = world.hub.gateway.behave;
    world.hub.gateway.behave = (routed, settle) => {
      if (routed.call.tool !== VOLUME) return behave(routed, settle);
      sends.push(world.hub.clock.now());
      settle({ kind: 'FAILED', certainty: 'YES', error: { code: 'DEVICE_ERROR', message: 'broken' } });
    };
    const state = await saved({ devices: { ids: ['a'] } });
    await until(state).toEqual({ a: 'RETRYING' });
    for (const [index, seconds] of [5, 10, 20, 40].entries()) {
      expect(sends).toHaveLength(index + 1);
      const nextTryAt = async () => (await world.targets(state))[0]?.nextTryAt ?? 0;
      // The outcome of the try is written after it was sent.
      await expect.poll(async () => Math.floor(((await nextTryAt()) - (sends.at(-1) ?? 0)) / 1_000)).toBe(seconds);
      await until(state).toEqual({ a: 'RETRYING' });
      world.hub.clock.advance((await nextTryAt()) - world.hub.clock.now() - 500);
      await world.hub.clock.pass(100);
      expect(sends).toHaveLength(index + 1);
      await world.hub.clock.pass(2_000);
      expect(sends).toHaveLength(index + 2);
    }
    await until(state).toEqual({ a: 'FAILED' });
    // The sweep of the next hour tries once more.
    world.hub.clock.advance(3_600_000);
    await world.hub.clock.until(() => sends.length).toBe(6);
    await until(state).toEqual({ a: 'FAILED' });
    serveVolumes(world.hub, world.volumes, world.sets);
    await world.hub.disconnect('a');
    await world.hub.connect(['a']);
    await until(state).toEqual({ a: 'IN_SYNC' });
  });

  it('says which devices cannot have it', async () => {
    await world.hub.connect(
      ['mute'],
      boardTools.filter(({ name }) => name !== VOLUME),
    );
    const state = await saved({ devices: { ids: ['mute', 'a'] } });
    await until(state).toEqual({ a: 'IN_SYNC', mute: 'UNSUPPORTED' });
    expect((await world.targets(state)).find(({ deviceId }) => deviceId === 'mute')?.error?.code).toBe('TOOL_UNKNOWN');
  });

  it('applies in its window only, and compares at its edges', async () => {
    const now = new Date(world.hub.clock.now());
    const time = (minutes: number) => new Date(now.getTime() + minutes * 60_000).toISOString().slice(11, 16);
    const state = await saved({ devices: { ids: ['a'] }, window: { from: time(2), to: time(4), zone: 'UTC' } });
    await until(state).toEqual({ a: 'OUT_OF_WINDOW' });
    world.hub.clock.advance(119_000);
    await world.hub.clock.pass(2_500);
    await until(state).toEqual({ a: 'IN_SYNC' });
    world.hub.clock.advance(119_000);
    await world.hub.clock.pass(2_500);
    await until(state).toEqual({ a: 'OUT_OF_WINDOW' });
    expect(Object.fromEntries(world.sets)).toEqual({ a: 1 });
  });

  it('pauses what was saved with a key that is revoked', async () => {
    const actor = await world.makeActor();
    const state = await world.save({ devices: { ids: ['a'] } }, actor);
    await until(state).toEqual({ a: 'IN_SYNC' });
    await world.hub.fleet.revokeApiKey(actor.keyId, admin);
    await world.hub.clock
      .until(() => world.hub.registry.desiredStateStore.find(state.id))
      .toMatchObject({
        enabled: false,
        pausedReason: expect.stringContaining('not valid any more'),
      });
    expect(await world.states(state)).toEqual({});
    const owner = await world.makeActor();
    expect(await world.hub.fleet.setDesiredStateEnabled(state.id, true, owner)).toMatchObject({
      refusal: { code: 'CONFLICT' },
    });
    const request = requestOf({ name: state.name, devices: { ids: ['a'] } });
    expect(await world.hub.fleet.updateDesiredState(state.id, 1, request, owner)).toMatchObject({
      state: { enabled: true, pausedReason: undefined },
    });
    made.push(state);
  });

  it('is taken over after a crash: what was sent is read first, and nothing is sent twice', async () => {
    const behave = world.hub.gateway.behave;
    let hanging: (() => void) | undefined;
    world.hub.gateway.behave = (routed, settle) => {
      if (routed.call.tool !== VOLUME || routed.deviceId !== 'a') return behave(routed, settle);
      // The device does what it was asked; its answer never arrives.
      world.volumes.set('a', 30);
      world.sets.set('a', (world.sets.get('a') ?? 0) + 1);
      hanging = () => settle({ kind: 'UNKNOWN', certainty: 'MAYBE', error: { code: 'SESSION_CLOSED', message: '' } });
    };
    const state = await saved({});
    await world.hub.clock.until(() => hanging !== undefined).toBe(true);
    await world.hub.clock.during(runner.handOver(10));
    runner = world.openRunner();
    await runner.load();
    await until(state).toEqual(inSync);
    expect(Object.fromEntries(world.sets)).toEqual({ a: 1, b: 1, c: 1 });
    hanging?.();
  });

  it('has one set under way for a device, also when another person saves it meanwhile', async () => {
    const behave = world.hub.gateway.behave;
    let answer: (() => void) | undefined;
    world.hub.gateway.behave = (routed, settle) => {
      if (routed.call.tool !== VOLUME || answer !== undefined) return behave(routed, settle);
      answer = () => behave(routed, settle);
    };
    const state = await saved({ devices: { ids: ['a'] } });
    await world.hub.clock.until(() => answer !== undefined).toBe(true);
    const request = requestOf({ name: state.name, devices: state.devices });
    await world.hub.fleet.updateDesiredState(state.id, 1, request, await world.makeActor());
    await world.hub.clock.pass(3_000);
    expect(Object.fromEntries(world.sets)).toEqual({});
    answer?.();
    await until(state).toEqual({ a: 'IN_SYNC' });
    expect(Object.fromEntries(world.sets)).toEqual({ a: 1 });
    expect(await world.targets(state)).toMatchObject([{ observedGeneration: 2 }]);
  });

  it('reads again after a new connection, and forgets a read of the former session', async () => {
    const behave = world.hub.gateway.behave;
    let fail: (() => void) | undefined;
    world.hub.gateway.behave = (routed, settle) => {
      if (routed.call.tool === VOLUME || fail !== undefined) return behave(routed, settle);
      fail = () =>
        settle({
          kind: 'FAILED',
          certainty: 'MAYBE',
          error: { code: 'SESSION_CLOSED', message: 'The session ended.' },
        });
    };
    // No value of the device is known yet.
    await world.hub.connect(['unread']);
    const state = await saved({ devices: { ids: ['unread'] } });
    await world.hub.clock.until(() => fail !== undefined).toBe(true);
    await world.hub.disconnect('unread');
    await world.hub.connect(['unread']);
    const readyAt = world.hub.clock.now();
    fail?.();
    await until(state).toEqual({ unread: 'IN_SYNC' });
    expect(world.hub.clock.now() - readyAt).toBeLessThanOrEqual(2_000);
  });
});
