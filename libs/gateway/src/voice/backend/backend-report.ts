/**
 * Writes the health of voice servers for the other processes, shortly after a change. Retries after
 * a failure.
 */
import type { Clock } from '@flotilla/session';
import type { GatewayLogger } from '../../gateway-logger.js';
import type { BackendHealth } from './backend-health.js';

/** How long changes are gathered, ms, because every conversation causes one. */
const GATHERED_MS = 1_000;
/** After a failure, ms. */
const RETRY_MS = 5_000;

export class BackendReport {
  #cancel: (() => void) | undefined;
  #isTelling = false;
  #isDue = false;
  #isOver = false;

  constructor(
    private readonly options: {
      readonly clock: Clock;
      readonly logger: GatewayLogger;
      readonly list: () => readonly BackendHealth[];
      readonly store: (servers: readonly BackendHealth[]) => Promise<void>;
    },
  ) {}

  changed(): void {
    this.#isDue = true;
    this.#storeIn(GATHERED_MS);
  }

  stop(): void {
    this.#isOver = true;
    this.#cancel?.();
  }

  #storeIn(delayMs: number): void {
    if (this.#cancel !== undefined || this.#isTelling || this.#isOver) return;
    this.#cancel = this.options.clock.setTimer(delayMs, () => {
      this.#cancel = undefined;
      void this.#store();
    });
  }

  async #store(): Promise<void> {
    const { list, logger, store } = this.options;
    this.#isTelling = true;
    this.#isDue = false;
    let delayMs = GATHERED_MS;
    try {
      await store(list());
    } catch (error) {
      logger.warn({ err: error }, 'could not store the state of the voice servers; retrying');
      this.#isDue = true;
      delayMs = RETRY_MS;
    }
    this.#isTelling = false;
    if (this.#isDue) this.#storeIn(delayMs);
  }
}
