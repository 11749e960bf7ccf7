/** The knobs of one device, which people turn at moments that the seed draws or at given times. */
import type { DeviceState } from '../device-state.js';
import { BEHAVIOURS_MAX, type KnobBehaviour, type KnobName } from './behaviour.js';
import { seededRandom } from './seeded-random.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MINUTE_MS = 60_000;
/** Levels that a person chooses are multiples of this. */
const LEVEL_STEP = 5;
const LEVELS = Array.from({ length: 100 / LEVEL_STEP + 1 }, (_, index) => index * LEVEL_STEP);

interface Active {
  readonly behaviour: KnobBehaviour;
  nextAt: number;
}

export class Knobs {
  /** How often a turn has changed a value. */
  turns = 0;
  readonly #random: () => number;
  #unstarted: readonly KnobBehaviour[];
  #active: readonly Active[] = [];

  /** Its draws are separate from those of other behaviours: the same id has the same turns. */
  constructor(
    private readonly state: DeviceState,
    behaviours: readonly KnobBehaviour[],
  ) {
    this.#random = seededRandom(Number.parseInt(state.identity.mac.replaceAll(':', ''), 16) % 0x1_0000_0000);
    this.#unstarted = behaviours;
  }

  get wakeAt(): number {
    return Math.min(...this.#active.map(({ nextAt }) => nextAt));
  }

  /** When there are too many, the oldest goes. */
  add(behaviour: KnobBehaviour, now: number): void {
    this.#active = [{ behaviour, nextAt: this.#nextAt(behaviour, now) }, ...this.#active].slice(0, BEHAVIOURS_MAX);
  }

  clear(): void {
    this.#unstarted = [];
    this.#active = [];
  }

  /** Turns what is due. After a long sleep each knob turns once. */
  turnDue(now: number): void {
    for (const behaviour of this.#unstarted) this.add(behaviour, now);
    this.#unstarted = [];
    for (const active of this.#active) {
      if (active.nextAt > now) continue;
      const { knob, value } = active.behaviour;
      this.turn(knob, value, now);
      active.nextAt = this.#nextAt(active.behaviour, now);
    }
  }

  turn(knob: KnobName, value: number | undefined, now: number): void {
    if (knob === 'brightness' && !this.state.parts.hasBacklight) return;
    const current = knob === 'volume' ? this.state.volume : this.state.brightnessAt(now);
    const level = value ?? this.#otherLevel(current);
    if (level !== current) this.turns++;
    if (knob === 'volume') this.state.volume = level;
    else this.state.setBrightness(level, now);
  }

  #otherLevel(current: number): number {
    const others = LEVELS.filter((level) => level !== current);
    return others[Math.floor(this.#random() * others.length)] ?? 0;
  }

  /** Turns at a rate are independent of each other, so the time between two is exponential. */
  #nextAt({ perHour, at }: KnobBehaviour, now: number): number {
    if (perHour !== undefined) return now + Math.min(DAY_MS, (-Math.log(1 - this.#random()) * HOUR_MS) / perHour);
    const midnight = now - (now % DAY_MS);
    const times = (at ?? []).map((time) => midnight + timeOfDay(time));
    return Math.min(...times.map((time) => (time > now ? time : time + DAY_MS)));
  }
}

function timeOfDay(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * HOUR_MS + minutes * MINUTE_MS;
}
