/**
 * Slots for calls in flight that all jobs of this process share. Where slots are scarce, jobs take
 * turns.
 */
import { allotSlots, weightOf } from '@flotilla/jobs';
import type { Contender, Job } from '@flotilla/jobs';
import type { JobId } from '@flotilla/mcp';
import type { Clock } from '@flotilla/session';

/** Free slots below this number are not shared out: each allotment costs a commit. */
const portion = 25;

interface Waiter {
  readonly since: number;
  readonly onRoom: () => void;
  /** What was set aside for it since it last asked. */
  granted: number;
}

export class SlotPool {
  readonly #clock: Clock;
  readonly #size: number;
  #free: number;
  #turns: readonly Contender<JobId>[] = [];
  readonly #waiters = new Map<JobId, Waiter>();

  constructor(clock: Clock, size: number) {
    this.#clock = clock;
    this.#size = size;
    this.#free = size;
  }

  get inUse(): number {
    return this.#size - this.#free;
  }

  /**
   * Takes up to `wanted` slots, to be given back one by one. Where there are fewer, the job waits
   * for its turn, and `onRoom` runs then. A job that wants none does not wait.
   */
  take({ id, priority }: Pick<Job, 'id' | 'priority'>, wanted: number, onRoom: () => void): number {
    if (wanted === 0) {
      this.withdraw(id);
      return 0;
    }
    const setAside = this.#waiters.get(id)?.granted ?? 0;
    const since = this.#waiters.get(id)?.since ?? this.#clock.now();
    const isFirst = this.#turns.every((turn) => turn.id === id);
    this.#free += setAside;
    if (setAside > 0 || (isFirst && this.#free > 0)) {
      const taken = Math.min(wanted, setAside > 0 ? setAside : this.#free);
      this.#free -= taken;
      if (taken === wanted) this.#forget(id);
      else this.#await(id, { since, onRoom, granted: 0 }, { wanted: wanted - taken, weight: weightOf(priority, 0) });
      // It wants less than was set aside for it: the others wait for what is left.
      if (setAside > taken) this.give(0);
      return taken;
    }
    this.#await(id, { since, onRoom, granted: 0 }, { wanted, weight: weightOf(priority, this.#clock.now() - since) });
    return 0;
  }

  give(count: number): void {
    this.#free += count;
    if (this.#turns.length > 0 && this.#free >= Math.min(portion, this.#size)) this.#allot();
  }

  /** Takes a slot without waiting for a turn. */
  takeOutOfTurn(): void {
    this.#free -= 1;
  }

  /** The job wants none at present. */
  withdraw(id: JobId): void {
    const granted = this.#waiters.get(id)?.granted ?? 0;
    this.#forget(id);
    if (granted > 0) this.give(granted);
  }

  #await(id: JobId, waiter: Waiter, { wanted, weight }: { readonly wanted: number; readonly weight: number }): void {
    this.#waiters.set(id, waiter);
    const isKnown = this.#turns.some((turn) => turn.id === id);
    this.#turns = isKnown
      ? this.#turns.map((turn) => (turn.id === id ? { ...turn, wanted, weight } : turn))
      : [...this.#turns, { id, wanted, weight, deficit: 0 }];
  }

  #forget(id: JobId): void {
    this.#waiters.delete(id);
    this.#turns = this.#turns.filter((turn) => turn.id !== id);
  }

  #allot(): void {
    const { granted, waiting } = allotSlots(this.#turns, this.#free);
    this.#turns = waiting;
    for (const [id, count] of granted) {
      const waiter = this.#waiters.get(id);
      if (waiter === undefined) continue;
      waiter.granted += count;
      this.#free -= count;
      waiter.onRoom();
    }
  }
}
