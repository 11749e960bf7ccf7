/**
 * Counts received messages without a valid signature of this hub. Logs the first, then at most one
 * per minute.
 */
import type { BusLogger } from '../bus-logger.js';
import type { SealProblem } from './message-seal.js';

/** `entry`: a stored directory entry. */
type RefusalReason = SealProblem | 'entry';

const LOG_EVERY_MS = 60_000;

export class RefusedMessages {
  readonly #counts = new Map<RefusalReason, number>();
  #total = 0;
  #loggedAt = -Infinity;

  constructor(private readonly logger: BusLogger) {}

  /** Since the start of this process, by reason. */
  get counts(): ReadonlyMap<RefusalReason, number> {
    return this.#counts;
  }

  add(reason: RefusalReason, place: string): void {
    this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + 1);
    this.#total += 1;
    const now = performance.now();
    if (now - this.#loggedAt < LOG_EVERY_MS) return;
    this.#loggedAt = now;
    const advice = 'Check who else can write to this Redis, and that all processes use one database and the same time.';
    this.logger.warn(
      { reason, place, refusedTotal: this.#total },
      `dropped a message without a valid signature of this hub. ${advice}`,
    );
  }
}
