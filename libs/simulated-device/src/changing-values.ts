/**
 * Values that change while a device does nothing: its charge and its temperature. They depend on
 * the time only, so a restart of the simulator continues them.
 */

export interface Battery {
  /** From one full charge to the next, ms. */
  readonly cycleMs: number;
  /** The part of a cycle by which this device is ahead of others, 0 to below 1. */
  readonly ahead: number;
}

export interface Charge {
  /** Percent. */
  readonly level: number;
  readonly charging: boolean;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The part of a cycle without a charger. */
const DRAINING = 0.85;
const LOWEST = 8;
/** How much warmer a device is in the afternoon than on average, °C. */
const SWING = 3;

/** `chance` from 0 to below 1 decides how fast the battery drains, and where it is in its cycle. */
export function batteryOf(chance: number): Battery {
  return { cycleMs: 5 * HOUR_MS + ((chance * 97) % 1) * 7 * HOUR_MS, ahead: chance };
}

export function chargeAt({ cycleMs, ahead }: Battery, now: number): Charge {
  const place = (now / cycleMs + ahead) % 1;
  const charging = place >= DRAINING;
  const full = charging ? (place - DRAINING) / (1 - DRAINING) : 1 - place / DRAINING;
  return { level: Math.round(LOWEST + full * (100 - LOWEST)), charging };
}

/** Warmest at 15:00 UTC. One decimal, as boards report it. */
export function temperatureAt(mean: number, now: number): number {
  const warmth = Math.cos(((now - 15 * HOUR_MS) / DAY_MS) * 2 * Math.PI);
  return Math.round((mean + SWING * warmth) * 10) / 10;
}
