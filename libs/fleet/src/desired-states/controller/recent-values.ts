/**
 * Values that devices have reported to this process lately. PostgreSQL knows when a value changed,
 * but not when it was last confirmed: without this, each edit would read every device again.
 */
import type { KnownValue } from '@flotilla/desired-state';
import { clockSkewMsMax } from '@flotilla/mcp';
import type { DeviceId } from '@flotilla/mcp';
import { LRUCache } from 'lru-cache';

/** Some ten MB at most. A value that was dropped is read again. */
const valuesMax = 50_000;

export class RecentValues {
  readonly #values = new LRUCache<string, KnownValue>({ max: valuesMax });

  get(deviceId: DeviceId, property: string): KnownValue | undefined {
    return this.#values.get(`${deviceId} ${property}`);
  }

  set(deviceId: DeviceId, property: string, value: KnownValue): void {
    this.#values.set(`${deviceId} ${property}`, value);
  }
}

/** The later one of two. One from the future is old: a clock was set back since. */
export function newest(
  one: KnownValue | undefined,
  other: KnownValue | undefined,
  now: number,
): KnownValue | undefined {
  return later(aged(one, now), aged(other, now));
}

function aged(value: KnownValue | undefined, now: number): KnownValue | undefined {
  return value === undefined || value.at <= now + clockSkewMsMax ? value : { ...value, at: 0 };
}

function later(one: KnownValue | undefined, other: KnownValue | undefined): KnownValue | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return other.at > one.at ? other : one;
}
