/**
 * Detects a device that reconnects constantly, such as two boards with one identity that evict each
 * other [xiaozhi §2.3], and makes it wait longer each time. Counts are per device, so a fleet that
 * reconnects at once is not flapping.
 */
import type { DeviceId, IncomingTransport } from '@flotilla/mcp';
import { LRUCache } from 'lru-cache';
import type { GatewayLimits } from '../gateway-limits.js';
import { TokenBucket } from './token-bucket.js';
import type { BucketRate } from './token-bucket.js';

type FlappingLimits = Pick<
  GatewayLimits,
  'reconnectsMax' | 'reconnectEveryMs' | 'flappingBackOffMs' | 'flappingBackOffMsMax' | 'flappingDevicesMax'
>;

/** `isNew`: the device begins to flap with this attempt. */
type Entry =
  { readonly kind: 'welcome' } | { readonly kind: 'held'; readonly isNew: boolean; readonly retryAfterMs: number };

export interface Attempt {
  readonly kind: IncomingTransport;
  /** The device has a live session, which this connection would end. */
  readonly isTakeover: boolean;
}

interface ConnectHistory {
  /** Connects that are left; empty buckets flap, full ones have been quiet long enough. */
  readonly bucket: TokenBucket;
  /** While the device flaps: the wait after the next entry, and the end of the current wait. */
  episode: { backOffMs: number; openAt: number } | undefined;
}

const welcome: Entry = { kind: 'welcome' };

export class FlappingWatch {
  readonly #rate: BucketRate;
  readonly #histories: LRUCache<DeviceId, ConnectHistory>;

  constructor(
    private readonly limits: FlappingLimits,
    private readonly clock: { now(): number },
  ) {
    this.#rate = { burst: limits.reconnectsMax, perSecond: 1_000 / limits.reconnectEveryMs };
    this.#histories = new LRUCache({ max: limits.flappingDevicesMax });
  }

  /** Counts a connection with valid credentials. */
  enter(deviceId: DeviceId, attempt: Attempt): Entry {
    const { flappingBackOffMs, flappingBackOffMsMax, reconnectsMax } = this.limits;
    if (reconnectsMax === 0) return welcome;
    const now = this.clock.now();
    const history = this.#count(deviceId, costOf(attempt), now);
    const { episode } = history;
    if (episode === undefined) {
      if (history.bucket.refill(this.#rate, now) > 0) return welcome;
      history.episode = { backOffMs: flappingBackOffMs, openAt: now + flappingBackOffMs };
      return { kind: 'held', isNew: true, retryAfterMs: flappingBackOffMs };
    }
    // It is further away if the clock was set back.
    episode.openAt = Math.min(episode.openAt, now + episode.backOffMs);
    if (now < episode.openAt) return { kind: 'held', isNew: false, retryAfterMs: episode.openAt - now };
    episode.backOffMs = Math.min(episode.backOffMs * 2, flappingBackOffMsMax);
    episode.openAt = now + episode.backOffMs;
    return welcome;
  }

  /** Another gateway took over a session of the device that this one had welcomed. */
  takenElsewhere(deviceId: DeviceId, kind: IncomingTransport): void {
    if (this.limits.reconnectsMax === 0) return;
    const cost = costOf({ kind, isTakeover: true }) - costOf({ kind, isTakeover: false });
    this.#count(deviceId, cost, this.clock.now());
  }

  /** The number of devices that flap now. */
  get flapping(): number {
    const now = this.clock.now();
    let count = 0;
    for (const { bucket, episode } of this.#histories.values())
      if (episode && bucket.refill(this.#rate, now) < this.#rate.burst) count += 1;
    return count;
  }

  #count(deviceId: DeviceId, cost: number, now: number): ConnectHistory {
    const history = this.#histories.get(deviceId) ?? {
      bucket: new TokenBucket(this.#rate, now),
      episode: undefined,
    };
    const left = history.bucket.refill(this.#rate, now);
    // An episode ends after as much time without attempts as it took to begin.
    if (left === this.#rate.burst) history.episode = undefined;
    history.bucket.take(Math.min(cost, left));
    this.#histories.set(deviceId, history);
    return history;
  }
}

/** Takeovers count more. WebSocket counts less: each conversation connects. [xiaozhi §1.5] */
function costOf({ kind, isTakeover }: Attempt): number {
  if (kind === 'WEBSOCKET') return isTakeover ? 1 : 0.2;
  return isTakeover ? 2 : 1;
}
