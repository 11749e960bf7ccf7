/**
 * Removes records after their retention time: events, calls, jobs, and the start of the audit
 * trail.
 */
import type { KeptTimes, Registry } from '@flotilla/registry';
import type { FleetLogger } from '../fleet-logger.js';

interface RecordRetentionOptions {
  readonly registry: Pick<Registry, 'earlierNow' | 'removeOld'>;
  readonly kept: KeptTimes;
  readonly clock: { now(): number };
  readonly logger: FleetLogger;
}

export class RecordRetention {
  #running: Promise<void> | undefined;

  constructor(private readonly options: RecordRetentionOptions) {}

  /** May run at any time and in several processes. The next run removes the rest. */
  run(): Promise<void> {
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #run(): Promise<void> {
    const { clock, kept, logger, registry } = this.options;
    const removed = await registry.removeOld(kept, await registry.earlierNow(clock.now()));
    if (Object.keys(removed).length > 0) logger.info({ removed }, 'removed old records');
  }
}
