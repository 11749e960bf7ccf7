/**
 * Ends the sessions of devices whose credentials are void, wherever they are connected. While a
 * gateway cannot be reached over Redis, its session lives on, so the request is repeated.
 */
import type { Bus } from '@flotilla/bus';
import type { DeviceId } from '@flotilla/mcp';
import type { RemovedDevice } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import type { FleetLogger } from '../fleet-logger.js';
import { isBusAway } from '../calls/locate-device.js';
import { inParts } from './in-parts.js';

interface SessionEndsDeps {
  readonly bus: Pick<Bus, 'calls' | 'directory' | 'feed'>;
  readonly clock: Clock;
  readonly logger: FleetLogger;
}

/** Sessions that end at a time. */
export const endsAtATime = 20;
/** Time between two attempts, ms. */
const RETRY_MS = 2_000;
/** How long attempts go on, ms: longer than most outages of Redis. */
const RETRY_FOR_MS = 3_600_000;
/** Devices with a session that could not be ended yet: as many as one request removes. */
const WAITING_MAX = 10_000;

type Attempt = 'ended' | 'replaced' | 'unreachable' | 'bus_away';

/** Sessions up to `epoch` began with the void credentials. Attempts go on until `until`. */
interface Waiting {
  readonly epoch: number;
  readonly until: number;
}

export class SessionEnds {
  readonly #waiting = new Map<DeviceId, Waiting>();
  #cancelRetry: (() => void) | undefined;
  #isStopped = false;

  constructor(private readonly deps: SessionEndsDeps) {}

  /** Resolves after the first attempt. */
  async end({ id: deviceId, epoch }: RemovedDevice): Promise<void> {
    const { bus, clock, logger } = this.deps;
    const reason = await this.#attempt(deviceId, epoch);
    // During a greeting no directory knows the device, so all gateways are notified.
    bus.feed.publish('expelled', { deviceId });
    if (reason === 'ended' || reason === 'replaced') return;
    const isRetried = this.#waiting.size < WAITING_MAX;
    logger.warn({ deviceId, reason, isRetried }, 'could not end the session of a device whose credentials are void');
    if (isRetried) this.#waiting.set(deviceId, { epoch, until: clock.now() + RETRY_FOR_MS });
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
    for (const some of inParts([...this.#waiting], endsAtATime)) {
      const attempts = await Promise.all(some.map(([deviceId, waiting]) => this.#endWaiting(deviceId, waiting)));
      // The others would fail as well.
      if (attempts.includes('bus_away')) break;
    }
    this.#cancelRetry = undefined;
    this.#retryLater();
  }

  async #endWaiting(deviceId: DeviceId, waiting: Waiting): Promise<Attempt> {
    const { bus, clock, logger } = this.deps;
    const attempt = await this.#attempt(deviceId, waiting.epoch);
    if (attempt === 'bus_away') return attempt;
    if (attempt === 'ended') bus.feed.publish('expelled', { deviceId });
    if (attempt === 'unreachable') {
      if (clock.now() <= waiting.until) return attempt;
      logger.warn({ deviceId }, 'gave up ending the session of a device whose credentials are void');
    }
    // It has another entry if the device was removed again meanwhile.
    if (this.#waiting.get(deviceId) === waiting) this.#waiting.delete(deviceId);
    return attempt;
  }

  /** A session with new credentials goes on. Gateways with an older one of the device end that. */
  async #attempt(deviceId: DeviceId, voidEpoch: number): Promise<Attempt> {
    const { calls, directory, feed } = this.deps.bus;
    try {
      const entry = await directory.lookup(deviceId);
      if (entry === undefined) return 'ended';
      if (entry.epoch > voidEpoch) {
        feed.publish('session', { deviceId, epoch: entry.epoch });
        return 'replaced';
      }
      // False: the gateway did not receive the request, or its entry is about to go.
      return (await calls.disconnect(entry.gatewayId, deviceId)) ? 'ended' : 'unreachable';
    } catch (error) {
      return isBusAway(error) ? 'bus_away' : 'unreachable';
    }
  }
}
