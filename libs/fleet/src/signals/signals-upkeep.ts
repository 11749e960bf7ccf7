/**
 * The worker's part of measurements and restarts: judges restarts every few seconds, and makes
 * roll-ups. All of it may run in several workers at once.
 */
import type { Bus } from '@flotilla/bus';
import type { VerificationTimes } from '@flotilla/jobs';
import type { Registry, RestartCause } from '@flotilla/registry';
import type { FleetLogger } from '../fleet-logger.js';

export interface SignalsUpkeepDeps {
  readonly registry: Pick<Registry, 'restarts' | 'measurements'>;
  readonly feed: Pick<Bus['feed'], 'publish'>;
  readonly verification: Pick<VerificationTimes, 'rebootMs' | 'firmwareMs'>;
  readonly clock: { now(): number };
  readonly logger: FleetLogger;
}

/** Between two looks for roll-ups, ms. */
const rollUpEveryMs = 60_000;

export class SignalsUpkeep {
  #running: Promise<void> | undefined;
  #rolledUpAt = -Infinity;
  #isStopped = false;
  readonly #judged = new Map<RestartCause, number>();

  constructor(private readonly deps: SignalsUpkeepDeps) {}

  /** Starts a round, unless one is under way. Never rejects and never waits. */
  run(): void {
    if (this.#isStopped) return;
    this.#running ??= this.round()
      .catch((error: unknown) => {
        this.deps.logger.warn({ err: error }, 'could not judge restarts or make roll-ups; the next round tries again');
      })
      .finally(() => (this.#running = undefined));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  /** Restarts that this process has judged, by cause. */
  get judged(): ReadonlyMap<RestartCause, number> {
    return this.#judged;
  }

  /** One round. */
  async round(): Promise<void> {
    const { clock, feed, registry, verification } = this.deps;
    const { events, restarts } = await registry.restarts.judge(clock.now(), verification);
    for (const { cause } of restarts) this.#judged.set(cause, (this.#judged.get(cause) ?? 0) + 1);
    for (const event of events) feed.publish('event', event);
    const now = clock.now();
    // Also once the clock was set back.
    if (now >= this.#rolledUpAt && now - this.#rolledUpAt < rollUpEveryMs) return;
    this.#rolledUpAt = now;
    const { hours, days } = await registry.measurements.keepUp(now);
    if (hours + days > 0) this.deps.logger.info({ hours, days }, 'rolled up measurements');
  }
}
