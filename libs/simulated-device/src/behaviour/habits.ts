/**
 * What happens to a device without a request: people turn its knobs, its firmware crashes, and its
 * Wi-Fi drops.
 */
import type { DeviceState } from '../device-state.js';
import { isKnob, type KnobName, type MishapBehaviour, type TimedBehaviour } from './behaviour.js';
import { Knobs } from './knobs.js';
import { seededRandom } from './seeded-random.js';
import { TimedBehaviours } from './timed-behaviours.js';

interface Mishaps {
  crash(reason: string, now: number): void;
  /** The device is away until this time, ms. */
  loseWifi(until: number): void;
}

const SECOND_MS = 1_000;
/** Another sequence than that of the knobs, so that they turn the same way with and without. */
const MISHAP_SEED = 0x5f_3759;

export class Habits {
  readonly #knobs: Knobs;
  readonly #mishaps: TimedBehaviours<MishapBehaviour>;

  /** Draws are separate from those of other behaviours: the same id has the same habits. */
  constructor(
    private readonly state: DeviceState,
    behaviours: readonly TimedBehaviour[],
    private readonly fate: Mishaps,
  ) {
    const seed = Number.parseInt(state.identity.mac.replaceAll(':', ''), 16) % 0x1_0000_0000;
    this.#knobs = new Knobs(state, behaviours.filter(isKnob), seededRandom(seed));
    const mishaps = behaviours.filter((behaviour) => !isKnob(behaviour));
    this.#mishaps = new TimedBehaviours(mishaps, seededRandom(seed ^ MISHAP_SEED));
  }

  /** How often a turn of a knob has changed a value. */
  get turns(): number {
    return this.#knobs.turns;
  }

  get wakeAt(): number {
    return Math.min(this.#knobs.timed.wakeAt, this.#mishaps.wakeAt);
  }

  add(behaviour: TimedBehaviour, now: number): void {
    if (isKnob(behaviour)) this.#knobs.timed.add(behaviour, now);
    else this.#mishaps.add(behaviour, now);
  }

  clear(): void {
    this.#knobs.timed.clear();
    this.#mishaps.clear();
  }

  /** What is due. After a long sleep each habit happens once. */
  advance(now: number): void {
    this.#knobs.turnDue(now);
    for (const mishap of this.#mishaps.takeDue(now)) this.#happen(mishap, now);
  }

  turn(knob: KnobName, value: number | undefined, now: number): void {
    this.#knobs.turn(knob, value, now);
  }

  #happen(mishap: MishapBehaviour, now: number): void {
    const { identity, firmware, parts } = this.state;
    if (mishap.board !== undefined && mishap.board !== parts.board) return;
    if (mishap.kind === 'wifiDrops') return this.fate.loseWifi(now + mishap.seconds * SECOND_MS);
    const { version } = firmware.running;
    if (mishap.version !== undefined && mishap.version !== version) return;
    this.fate.crash(`a fault of version ${version} of ${identity.mac}`, now);
  }
}
