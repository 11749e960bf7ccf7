/**
 * Ends the sessions of devices whose credentials are void, wherever they are connected. While a
 * gateway cannot be reached over Redis, its session lives on, so the request is repeated.
 */
import type { Bus } from '@flotilla/bus';
import type { DeviceId } from '@flotilla/mcp';
import type { Clock } from '@flotilla/session';
import type { FleetLogger } from '../fleet-logger.js';
import { isBusAway } from '../calls/locate-device.js';

export interface SessionEndsDeps {
  readonly bus: Pick<Bus, 'calls' | 'directory' | 'feed'>;
  readonly clock: Clock;
  readonly logger: FleetLogger;
}

/** Time between two attempts, ms. */
const RETRY_MS = 2_000;
/** How long attempts go on, ms: longer than most outages of Redis. */
const RETRY_FOR_MS = 3_600_000;
/** Devices with a session that could not be ended yet: as many as one request removes. */
const WAITING_MAX = 10_000;

type Attempt = 'ended' | 'unreachable' | 'bus_away';

export class SessionEnds {
  /** The time until which attempts go on, by device. */
  readonly #waiting = new Map<DeviceId, number>();
  #cancelRetry: (() => void) | undefined;
  #isStopped = false;

  constructor(private readonly deps: SessionEndsDeps) {}

  /** Resolves after the first attempt. */
  async end(deviceId: DeviceId): Promise<void> {
    const reason = await this.#attempt(deviceId);
    // During a greeting no directory knows the device, so all gateways are notified.
    this.deps.bus.feed.publish('expelled', { deviceId });
    if (reason === 'ended') return;
    const { clock, logger } = this.deps;
    logger.warn({ deviceId, reason }, 'could not end the session of a device whose credentials are void; retrying');
    if (this.#waiting.size < WAITING_MAX) this.#waiting.set(deviceId, clock.now() + RETRY_FOR_MS);
    this.#retryLater();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelRetry?.();
    this.#waiting.clear();
  }

  #retryLater(): void {
    if (this.#isStopped || this.#waiting.size === 0) return;
    this.#cancelRetry ??= this.deps.clock.setTimer(RETRY_MS, () => void this.#retry());
  }

  async #retry(): Promise<void> {
    const { bus, clock } = this.deps;
    for (const [deviceId, until] of [...this.#waiting]) {
      const attempt = await this.#attempt(deviceId);
      // The others would fail as well.
      if (attempt === 'bus_away') break;
      if (attempt === 'ended') bus.feed.publish('expelled', { deviceId });
      if (attempt === 'ended' || clock.now() > until) this.#waiting.delete(deviceId);
    }
    this.#cancelRetry = undefined;
    this.#retryLater();
  }

  /** False from a gateway: it did not receive the request, or its entry is about to go. */
  async #attempt(deviceId: DeviceId): Promise<Attempt> {
    const { calls, directory } = this.deps.bus;
    try {
      const entry = await directory.lookup(deviceId);
      return entry === undefined || (await calls.disconnect(entry.gatewayId, deviceId)) ? 'ended' : 'unreachable';
    } catch (error) {
      return isBusAway(error) ? 'bus_away' : 'unreachable';
    }
  }
}
