/** Behaviours that happen by themselves: at moments that the seed draws, or at times of the day. */
import { BEHAVIOURS_MAX, type TimedBehaviour } from './behaviour.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MINUTE_MS = 60_000;

interface Active<Timed> {
  readonly behaviour: Timed;
  nextAt: number;
}

export class TimedBehaviours<Timed extends TimedBehaviour> {
  #unstarted: readonly Timed[];
  #active: readonly Active<Timed>[] = [];

  /** They begin with the first `takeDue`. */
  constructor(
    behaviours: readonly Timed[],
    private readonly random: () => number,
  ) {
    this.#unstarted = behaviours;
  }

  get wakeAt(): number {
    return Math.min(...this.#active.map(({ nextAt }) => nextAt));
  }

  /** When there are too many, the oldest goes. */
  add(behaviour: Timed, now: number): void {
    this.#active = [{ behaviour, nextAt: this.#nextAt(behaviour, now) }, ...this.#active].slice(0, BEHAVIOURS_MAX);
  }

  clear(): void {
    this.#unstarted = [];
    this.#active = [];
  }

  /** Those whose time has come. After a long sleep each happens once. */
  takeDue(now: number): readonly Timed[] {
    for (const behaviour of this.#unstarted) this.add(behaviour, now);
    this.#unstarted = [];
    const due: Timed[] = [];
    for (const active of this.#active) {
      if (active.nextAt > now) continue;
      due.push(active.behaviour);
      active.nextAt = this.#nextAt(active.behaviour, now);
    }
    return due;
  }

  /** At a rate each is independent of the former one, so the time between two is exponential. */
  #nextAt(behaviour: TimedBehaviour, now: number): number {
    const { perHour } = behaviour;
    if (perHour !== undefined) return now + (-Math.log(1 - this.random()) * HOUR_MS) / perHour;
    const midnight = now - (now % DAY_MS);
    const times = ('at' in behaviour ? (behaviour.at ?? []) : []).map((time) => midnight + timeOfDay(time));
    return Math.min(...times.map((time) => (time > now ? time : time + DAY_MS)));
  }
}

function timeOfDay(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * HOUR_MS + minutes * MINUTE_MS;
}
