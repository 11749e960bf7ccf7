/** The knobs of one device, which people turn at moments that the seed draws or at given times. */
import type { DeviceState } from '../device-state.js';
import type { KnobBehaviour, KnobName } from './behaviour.js';
import { TimedBehaviours } from './timed-behaviours.js';

/** Levels that a person chooses are multiples of this. */
const LEVEL_STEP = 5;
const LEVELS = Array.from({ length: 100 / LEVEL_STEP + 1 }, (_, index) => index * LEVEL_STEP);

export class Knobs {
  /** How often a turn has changed a value. */
  turns = 0;
  readonly timed: TimedBehaviours<KnobBehaviour>;

  constructor(
    private readonly state: DeviceState,
    behaviours: readonly KnobBehaviour[],
    private readonly random: () => number,
  ) {
    this.timed = new TimedBehaviours(behaviours, random);
  }

  turnDue(now: number): void {
    for (const { knob, value } of this.timed.takeDue(now)) this.turn(knob, value, now);
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
    return others[Math.floor(this.random() * others.length)] ?? 0;
  }
}
