/**
 * The desired states that this process owns: reads them again after a change, pauses those whose
 * owner may not send any more, and says which have to be compared with all their devices.
 */
import { isDeepStrictEqual } from 'node:util';
import { currentActor } from '../../recurring/current-actor.js';
import type { OwnedDesiredState } from '@flotilla/registry';
import { sourceOf } from '../../actor.js';
import type { Actor } from '../../actor.js';
import { cancelJob } from '../../jobs/commands/steer-job.js';
import { writeDesiredStateEvent } from '../desired-states.js';
import { fenced } from './compare-devices.js';
import type { Compared } from './compare-devices.js';
import type { DesiredStateRunnerDeps } from './controller-deps.js';
import { EntryLock } from './entry-lock.js';
import { LiveState, liveGeneration } from './live-state.js';
import type { LiveGeneration } from './live-state.js';

/** Who pauses a desired state, and cancels its roll-out. */
const HUB: Actor = { id: 'hub', name: 'hub', mayCallUserOnly: false, mayChangeFirmware: false };

/** ADOPTED: another process may have left something unfinished. EDITED: each device is compared. */
export interface LiveChange {
  readonly state: LiveState;
  readonly kind: 'ADOPTED' | 'EDITED';
}

export function keyOf({ live, device }: Pick<Compared, 'live' | 'device'>): string {
  return `${live.row.id} ${device.deviceId}`;
}

export class LiveStates {
  readonly #live = new Map<string, LiveState>();
  readonly #entries = new EntryLock();
  /** Changes that a failed load found are returned by the next one. */
  readonly #changes: LiveChange[] = [];
  /** Properties that a desired state does not set any more: it may have blocked others. */
  readonly #freed = new Set<string>();

  constructor(private readonly deps: DesiredStateRunnerDeps) {}

  get all(): readonly LiveState[] {
    return [...this.#live.values()];
  }

  get(id: string): LiveState | undefined {
    return this.#live.get(id);
  }

  /** Takes what has no owner, and reads all again. */
  async load(): Promise<readonly LiveChange[]> {
    const { lease, registry } = this.deps;
    await registry.desiredStateQueue.takeOwnership(lease.id);
    const owned = await registry.desiredStateQueue.owned(lease.id);
    const former = new Map(this.#live);
    for (const id of former.keys()) if (!owned.some((each) => each.state.id === id)) this.#drop(id);
    for (const each of owned) {
      const change = await this.#adopt(each, former.get(each.state.id));
      if (change !== undefined) this.#changes.push(change);
    }
    const changed = new Set(this.#changes.map(({ state }) => state));
    for (const state of this.all)
      if (this.#freed.has(state.row.property) && !changed.has(state)) this.#changes.push({ state, kind: 'EDITED' });
    this.#freed.clear();
    return this.#changes.splice(0);
  }

  /** Writes entries, and counts what was written. Returns their keys (`keyOf`). */
  write(changed: readonly Compared[]): Promise<ReadonlySet<string>> {
    const { lease, registry } = this.deps;
    return this.#entries.write(async () => {
      const written = await registry.desiredStateQueue.write(lease.id, changed.map(fenced));
      const keys = new Set(written.map(({ desiredStateId, deviceId }) => `${desiredStateId} ${deviceId}`));
      for (const each of changed) if (keys.has(keyOf(each))) this.#live.get(each.live.row.id)?.move(each.from, each.to);
      return keys;
    });
  }

  async #adopt(owned: OwnedDesiredState, former: LiveState | undefined): Promise<LiveChange | undefined> {
    const { clock } = this.deps;
    const { state: row, fence } = owned;
    const actor = await this.#actorOf(owned);
    if (actor === undefined) return undefined;
    if (former?.owned.fence === fence && isDeepStrictEqual(former.actor, actor)) return this.#renewed(former, owned);
    const live = new LiveState(owned, actor, clock.now());
    if ((await this.generation(live, row.generation)) === undefined) return undefined;
    await this.#count(live);
    return { state: live, kind: live.counts.size === 0 ? 'EDITED' : 'ADOPTED' };
  }

  async #renewed(live: LiveState, owned: OwnedDesiredState): Promise<LiveChange | undefined> {
    const { row: before, owned: formerly } = live;
    const { state: after } = owned;
    live.owned = owned;
    const isEdited = before.generation !== after.generation || before.editedAt !== after.editedAt;
    const isMoved =
      before.settledGeneration !== after.settledGeneration ||
      before.rolloutJobId !== after.rolloutJobId ||
      !isDeepStrictEqual(formerly.filter, owned.filter) ||
      !isDeepStrictEqual(formerly.groupZones, owned.groupZones);
    if (!isEdited && !isMoved) return undefined;
    try {
      if (isEdited) await this.#restart(live);
      live.isCompared = false;
      if ((await this.generation(live, after.generation)) === undefined) return undefined;
    } catch (error) {
      // The next load finds the edit again.
      live.owned = formerly;
      throw error;
    }
    return { state: live, kind: 'EDITED' };
  }

  async #restart(live: LiveState): Promise<void> {
    await this.#count(live);
    live.pendingSets.clear();
    await this.#forgetGenerations(live);
  }

  /** Counts its entries and publishes it, so that `write` updates these counts. */
  #count(live: LiveState): Promise<void> {
    const { id, generation } = live.row;
    return this.#entries.count(async () => {
      const { counts, inSyncNow } = await this.deps.registry.desiredStateQueue.counts(id, generation);
      Object.assign(live, { counts: new Map(counts), inSyncNow });
      this.#live.set(id, live);
    });
  }

  /** Comparisons check every kept generation. Number 0, the plan before the edit, goes too. */
  async #forgetGenerations({ generations, row }: LiveState): Promise<void> {
    const observed = await this.deps.registry.desiredStateQueue.observedGenerations(row.id);
    const kept = new Set([...observed, row.settledGeneration, row.generation]);
    for (const number of generations.keys()) if (number === 0 || !kept.has(number)) generations.delete(number);
  }

  #drop(id: string): void {
    const state = this.#live.get(id);
    if (state !== undefined) this.#freed.add(state.row.property);
    this.#live.delete(id);
  }

  /** 0 is the newest plan before any device has it. Undefined where it was pruned or lost. */
  async generation(live: LiveState, number: number): Promise<LiveGeneration | undefined> {
    const known = live.generations.get(number);
    if (known !== undefined) return known;
    const { registry } = this.deps;
    const stored = await registry.desiredStateStore.generationOf(
      live.row.id,
      number === 0 ? live.row.generation : number,
    );
    if (stored === 'lost') {
      await this.#pause(live.owned, 'The secret arguments were encrypted with another key. Save it again.');
      return undefined;
    }
    if (stored === undefined) return undefined;
    const made = liveGeneration(this.deps, live.row, number, stored, live.actor);
    live.generations.set(number, made);
    return made;
  }

  async #actorOf(owned: OwnedDesiredState): Promise<Actor | undefined> {
    const { clock, registry } = this.deps;
    const { savedById, name } = owned.state;
    const current = await currentActor(registry, savedById, clock.now());
    const missing =
      'missing' in current
        ? current.missing
        : current.actor.mayCallTools === false
          ? `${current.actor.name} may not call tools any more.`
          : undefined;
    if (missing !== undefined) {
      await this.#pause(owned, missing);
      return undefined;
    }
    // The filter is narrowed already; the calls need no look at the scope of the key.
    return 'actor' in current ? { ...current.actor, name: `desired-state:${name}`, devices: undefined } : undefined;
  }

  async #pause({ state }: OwnedDesiredState, reason: string): Promise<void> {
    const { bus, clock, registry } = this.deps;
    this.#drop(state.id);
    // Before the pause: if the process ends in between, the next one finds the state again.
    if (state.rolloutJobId !== undefined) await cancelJob(this.deps, state.rolloutJobId, false, HUB);
    if (!(await registry.desiredStateStore.pause(state, reason, clock.now(), sourceOf(HUB)))) return;
    writeDesiredStateEvent(this.deps, 'desired_state.paused', state, { reason });
    bus.feed.publish('desiredState', { id: state.id });
  }
}
