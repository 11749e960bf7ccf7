/**
 * Gathers devices that come online, so that a reconnecting fleet costs one statement per portion.
 */
import type { DeviceId } from '@flotilla/mcp';
import type { Clock } from '@flotilla/session';

const gatherMs = 100;
/** Beyond so many at once it is cheaper to ask PostgreSQL which of the waiting are online. */
const gatheredMax = 5_000;

export class ReturningDevices {
  #gathered = new Set<DeviceId>();
  #cancelTimer: (() => void) | undefined;

  /** `wake` gets the devices, or undefined when there were too many to name. It must not reject. */
  constructor(
    private readonly clock: Clock,
    private readonly wake: (deviceIds: readonly DeviceId[] | undefined) => Promise<void>,
  ) {}

  add(deviceId: DeviceId): void {
    if (this.#gathered.size <= gatheredMax) this.#gathered.add(deviceId);
    this.#cancelTimer ??= this.clock.setTimer(gatherMs, () => void this.#release());
  }

  end(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  /** One portion at a time: the timer counts as pending until the last one is through. */
  async #release(): Promise<void> {
    const deviceIds = this.#gathered.size > gatheredMax ? undefined : [...this.#gathered];
    this.#gathered = new Set();
    await this.wake(deviceIds);
    this.#cancelTimer = undefined;
    if (this.#gathered.size > 0) this.#cancelTimer = this.clock.setTimer(gatherMs, () => void this.#release());
  }
}
