/**
 * Detects a device that reconnects constantly, such as two boards with one identity that evict each
 * other [xiaozhi §2.3], and makes it wait longer each time. Counts are per device, so a fleet that
 * reconnects at once is not flapping.
 */
import type { DeviceId } from '@flotilla/mcp';
import type { GatewayLimits } from '../gateway-limits.js';

export type FlappingLimits = Pick<
  GatewayLimits,
  'reconnectsMax' | 'reconnectEveryMs' | 'flappingBackOffMs' | 'flappingBackOffMsMax' | 'flappingDevicesMax'
>;

/** `isNew`: the device begins to flap with this attempt. */
export type Entry =
  { readonly kind: 'welcome' } | { readonly kind: 'held'; readonly isNew: boolean; readonly retryAfterMs: number };

export interface Attempt {
  readonly kind: 'MQTT' | 'WEBSOCKET';
  /** The device has a live session, which this connection would end. */
  readonly isTakeover: boolean;
}

interface Standing {
  /** Recent connects; falls by one every `reconnectEveryMs`. */
  level: number;
  countedAt: number;
  /** While the device flaps: the wait after the next entry, and the end of the current wait. */
  episode: { backOffMs: number; openAt: number } | undefined;
}

const welcome: Entry = { kind: 'welcome' };

export class FlappingWatch {
  /** In the order of their last attempt. */
  readonly #standings = new Map<DeviceId, Standing>();

  constructor(
    private readonly limits: FlappingLimits,
    private readonly clock: { now(): number },
  ) {}

  /** Counts a connection with valid credentials. */
  enter(deviceId: DeviceId, attempt: Attempt): Entry {
    const { flappingBackOffMs, flappingBackOffMsMax, reconnectsMax } = this.limits;
    if (reconnectsMax === 0) return welcome;
    const now = this.clock.now();
    const standing = this.#count(deviceId, costOf(attempt), now);
    const { episode } = standing;
    if (episode === undefined) {
      if (standing.level < reconnectsMax) return welcome;
      standing.episode = { backOffMs: flappingBackOffMs, openAt: now + flappingBackOffMs };
      return { kind: 'held', isNew: true, retryAfterMs: flappingBackOffMs };
    }
    if (now < episode.openAt) return { kind: 'held', isNew: false, retryAfterMs: episode.openAt - now };
    episode.backOffMs = Math.min(episode.backOffMs * 2, flappingBackOffMsMax);
    episode.openAt = now + episode.backOffMs;
    return welcome;
  }

  /** The number of devices that flap now. */
  get flapping(): number {
    const now = this.clock.now();
    let count = 0;
    for (const standing of this.#standings.values())
      if (standing.episode && this.#levelAt(standing, now) > 0) count += 1;
    return count;
  }

  #count(deviceId: DeviceId, cost: number, now: number): Standing {
    const standing = this.#standings.get(deviceId) ?? { level: 0, countedAt: now, episode: undefined };
    const level = this.#levelAt(standing, now);
    // An episode ends after as much time without attempts as it took to begin.
    if (level === 0) standing.episode = undefined;
    standing.level = Math.min(level + cost, this.limits.reconnectsMax);
    standing.countedAt = now;
    this.#standings.delete(deviceId);
    this.#standings.set(deviceId, standing);
    this.#forgetOldest();
    return standing;
  }

  #levelAt({ level, countedAt }: Standing, now: number): number {
    return Math.max(0, level - Math.max(0, now - countedAt) / this.limits.reconnectEveryMs);
  }

  #forgetOldest(): void {
    if (this.#standings.size <= this.limits.flappingDevicesMax) return;
    for (const oldest of this.#standings.keys()) {
      this.#standings.delete(oldest);
      return;
    }
  }
}

/** Takeovers count more. WebSocket counts less: each conversation connects. [xiaozhi §1.5] */
function costOf({ kind, isTakeover }: Attempt): number {
  if (kind === 'WEBSOCKET') return isTakeover ? 1 : 0.2;
  return isTakeover ? 2 : 1;
}
