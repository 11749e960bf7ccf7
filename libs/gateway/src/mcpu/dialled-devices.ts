/** All devices that this process dials: reads them from the registry and runs a dialer for each. */
import type { HubProcessId } from '@flotilla/mcp';
import type { DialStore, DialTarget } from '@flotilla/registry';
import { Dialer } from './dialer.js';
import type { DialerOptions } from './dialer.js';

interface DialledDevicesOptions extends DialerOptions {
  readonly gatewayId: HubProcessId;
  readonly dials: DialStore;
}

export class DialledDevices {
  readonly #dialers = new Map<string, Dialer>();
  #cancelRound: () => void = () => undefined;
  #isStopped = false;

  constructor(private readonly options: DialledDevicesOptions) {}

  start(): void {
    void this.#look();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelRound();
    for (const dialer of this.#dialers.values()) dialer.stop();
    this.#dialers.clear();
  }

  /** Dials no more. Each device is free for another process when its connection has ended. */
  retire(): void {
    this.#isStopped = true;
    this.#cancelRound();
    for (const dialer of this.#dialers.values()) dialer.retire(() => void this.#release(dialer.target));
  }

  async #release({ deviceId }: DialTarget): Promise<void> {
    const { dials, gatewayId, logger } = this.options;
    try {
      await dials.release(gatewayId, deviceId);
    } catch (error) {
      logger.debug({ err: error, deviceId }, 'could not release a dialled device; it is free when the lease ends');
    }
  }

  async #look(): Promise<void> {
    const { clock, dials, gatewayId, limits, logger } = this.options;
    try {
      const targets = await dials.take(gatewayId, limits.dialledDevicesMax);
      if (!this.#isStopped) this.#follow(targets);
    } catch (error) {
      // Existing connections stay: without PostgreSQL no other process can take them over either.
      logger.debug({ err: error }, 'could not read which devices to dial; retrying');
    }
    if (!this.#isStopped) this.#cancelRound = clock.setTimer(limits.dialRoundMs, () => void this.#look());
  }

  #follow(targets: readonly DialTarget[]): void {
    const wanted = new Map(targets.map((target) => [keyOf(target), target]));
    for (const [key, dialer] of this.#dialers) {
      if (wanted.has(key)) continue;
      dialer.stop();
      this.#dialers.delete(key);
    }
    for (const [key, target] of wanted) {
      if (this.#dialers.has(key)) continue;
      const dialer = new Dialer(target, this.options);
      this.#dialers.set(key, dialer);
      dialer.start();
    }
  }
}

/** A device with another address, or an address of another origin, is another target. */
function keyOf({ deviceId, address, byAdmin }: DialTarget): string {
  return `${deviceId} ${address} ${byAdmin}`;
}
