/**
 * Which gateways accept devices: each announces its own MQTT address in PostgreSQL, and all
 * processes read it, so that OTA answers name only gateways that are alive, ready and not full.
 */
import type { GatewayPlace, ProcessLease, Registry } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import type { GatewayLogger } from '../gateway-logger.js';

interface GatewayPlacesOptions {
  readonly registry: Pick<Registry, 'gatewayPlaces'>;
  readonly lease: Pick<ProcessLease, 'announcePlace'>;
  readonly clock: Clock;
  readonly logger: GatewayLogger;
}

/** This gateway, if it has its own address. */
interface OwnPlace {
  readonly endpoint: string;
  readonly acceptsDevices: () => boolean;
}

/** Interval of reads and announcements, ms: short in comparison with the boot of a device. */
const ROUND_MS = 1_000;

export class GatewayPlaces {
  #places: readonly GatewayPlace[] = [];
  #own: OwnPlace | undefined;
  #announced: boolean | undefined;
  #cancelRound: () => void = () => undefined;
  #isFailing = false;
  #isStopped = false;

  constructor(private readonly options: GatewayPlacesOptions) {}

  /** Resolves after the first read, which may fail. */
  async start(): Promise<void> {
    await this.#round();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelRound();
  }

  /** Announces this gateway from the next round on. */
  announce(own: OwnPlace): void {
    this.#own = own;
  }

  /**
   * Whether devices may receive the address. If no gateway announces an address, they are addresses
   * of balancers, and all may be named.
   */
  isNamed(endpoint: string): boolean {
    return (
      this.#places.length === 0 || this.#places.some((place) => place.endpoint === endpoint && place.acceptsDevices)
    );
  }

  async #round(): Promise<void> {
    try {
      await this.#announce();
      this.#places = await this.options.registry.gatewayPlaces();
      this.#isFailing = false;
    } catch (err) {
      // The last answer counts: without PostgreSQL no device is better off elsewhere.
      if (!this.#isFailing) this.options.logger.warn({ err }, 'could not read which gateways accept devices; retrying');
      this.#isFailing = true;
    }
    if (!this.#isStopped) this.#cancelRound = this.options.clock.setTimer(ROUND_MS, () => void this.#round());
  }

  async #announce(): Promise<void> {
    const acceptsDevices = this.#own?.acceptsDevices();
    if (this.#own === undefined || acceptsDevices === undefined || acceptsDevices === this.#announced) return;
    await this.options.lease.announcePlace({ endpoint: this.#own.endpoint, acceptsDevices });
    this.#announced = acceptsDevices;
  }
}
