/** What a worker knows of the desired states that it owns, over a real database. */
import type { DeviceId } from '@flotilla/mcp';
import type { DesiredStateRow, DesiredTargetRow } from '@flotilla/registry';
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, it, vi } from 'vitest';
import { admin } from '../../fleet-fixture.suite.js';
import { openDesiredFixture, requestOf } from '../desired-fixture.suite.js';
import type { DesiredFixture } from '../desired-fixture.suite.js';
import type { LiveState } from './live-state.js';
import { LiveStates } from './live-states.js';

describe('the desired states of a process', () => {
  let world: DesiredFixture;
  let states: LiveStates;
  let state: DesiredStateRow;

  beforeAll(async () => {
    world = await openDesiredFixture();
    await world.hub.connect(['a', 'b']);
  });
  beforeEach(async () => {
    states = new LiveStates(world.runnerDeps());
    state = await world.save({});
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await world.hub.fleet.deleteDesiredState(state.id, admin);
  });
  afterAll(() => world.close());

  async function edit(volume: number, row = state): Promise<void> {
    const { id, savedById } = row;
    const { generation, name } = await world.row(row);
    const owner = { ...admin, id: savedById, mayCallTools: true };
    await world.hub.fleet.updateDesiredState(id, generation, requestOf({ name, arguments: { volume } }), owner);
  }

  function live(): LiveState {
    const found = states.get(state.id);
    if (found === undefined) throw new TypeError('It is not loaded.');
    return found;
  }

  /** Writes a new entry of the device, in sync with this generation. */
  function sync(name: string, observedGeneration: number): Promise<unknown> {
    const deviceId = name as DeviceId;
    const to: DesiredTargetRow = {
      desiredStateId: state.id,
      deviceId,
      state: 'IN_SYNC',
      since: state.createdAt,
      observedGeneration,
      syncedGeneration: observedGeneration,
      reported: 30,
      reportedAt: undefined,
      attempts: 0,
      reverts: [],
      nextTryAt: undefined,
      edgeAt: undefined,
      error: undefined,
      blockedBy: [],
      isSending: false,
    };
    const device = { deviceId, epoch: 0, gatewayId: undefined };
    const compared = { live: live(), device, generation: undefined, from: undefined, to };
    return states.write([{ ...compared, next: 'none', cause: 'CHANGE' }]);
  }

  it('count each entry once that is written while they are counted again after an edit', async () => {
    await states.load();
    await edit(31);
    const queue = world.hub.registry.desiredStateQueue;
    const count = queue.counts.bind(queue);
    const { promise: hasCounted, resolve: onCounted } = opened();
    const { promise: mayGoOn, resolve: goOn } = opened();
    vi.spyOn(queue, 'counts').mockImplementationOnce(async (id, generation) => {
      const found = await count(id, generation);
      onCounted();
      await mayGoOn;
      return found;
    });
    const loading = states.load();
    await hasCounted;
    const written = sync('a', 2);
    await Promise.race([written, nextRows()]);
    goOn();
    await Promise.all([loading, written]);
    expect([Object.fromEntries(live().counts), live().inSyncNow]).toEqual([{ IN_SYNC: 1 }, 1]);
  });

  it('still have each edit to compare after a read has failed', async () => {
    const other = await world.save({});
    await states.load();
    for (const each of [state, other]) await edit(31, each);
    const queue = world.hub.registry.desiredStateQueue;
    const count = queue.counts.bind(queue);
    vi.spyOn(queue, 'counts').mockImplementationOnce(count).mockRejectedValueOnce(new Error('The database is away.'));
    await expect(states.load()).rejects.toThrow('away');
    const edited = (await states.load()).filter(({ kind }) => kind === 'EDITED').map((change) => change.state.row.id);
    expect(new Set(edited)).toEqual(new Set([state.id, other.id]));
    await world.hub.fleet.deleteDesiredState(other.id, admin);
  });

  it('compare what one that ended has blocked also after a read has failed', async () => {
    const other = await world.save({});
    await states.load();
    await world.hub.fleet.setDesiredStateEnabled(state.id, false, admin);
    vi.spyOn(world.hub.registry.apiKeys, 'all').mockRejectedValueOnce(new Error('The database is away.'));
    await expect(states.load()).rejects.toThrow('away');
    expect((await states.load()).map((change) => [change.state.row.id, change.kind])).toEqual([[other.id, 'EDITED']]);
    expect(await states.load()).toEqual([]);
    await world.hub.fleet.deleteDesiredState(other.id, admin);
  });

  it('compare what one has blocked whose owner lost the right to call', async () => {
    const leaver = await world.makeActor();
    const blocking = await world.save({}, leaver);
    await states.load();
    await world.hub.registry.apiKeys.revoke(leaver.keyId, { at: world.hub.clock.now(), by: { actor: 'spec' } });
    expect((await states.load()).map((change) => change.state.row.id)).toEqual([state.id]);
    await world.hub.fleet.deleteDesiredState(blocking.id, admin);
  });

  it('compare what has its window in the zone of each device when the zone of a group changes', async () => {
    const windowed = await world.save({ window: { from: '22:00', to: '07:00' } });
    const elsewhere = await world.save({ window: { from: '22:00', to: '07:00', zone: 'UTC' } });
    await states.load();
    const { fleet } = world.hub;
    const changed = async () => (await states.load()).map((change) => [change.state.row.id, change.kind]);
    const group = { name: 'east', filter: { ids: ['a'] }, timeZone: 'Asia/Tokyo', voiceUrl: undefined };
    const made = await fleet.createDeviceGroup(group, admin);
    if ('refusal' in made) throw new TypeError(made.refusal.message);
    expect([await changed(), await changed()]).toEqual([[[windowed.id, 'EDITED']], []]);
    await fleet.updateDeviceGroup(made.group.id, { ...group, timeZone: 'Asia/Dubai' }, admin);
    expect(await changed()).toEqual([[windowed.id, 'EDITED']]);
    await fleet.deleteDeviceGroup(made.group.id, admin);
    expect(await changed()).toEqual([[windowed.id, 'EDITED']]);
    for (const { id } of [windowed, elsewhere]) await fleet.deleteDesiredState(id, admin);
  });

  it('keep the generations that devices may have, and no others', async () => {
    await states.load();
    await sync('a', 1);
    for (const volume of [31, 32, 33]) {
      await edit(volume);
      await states.load();
    }
    expect([...live().generations.keys()]).toEqual([1, 4]);
  });

  /** Time enough for a statement that did not wait. */
  async function nextRows(): Promise<void> {
    for (let reads = 0; reads < 10; reads += 1) await world.targets(state);
  }
});

function opened(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}
