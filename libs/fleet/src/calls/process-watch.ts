/**
 * Watches the leases of other hub processes and reports those that died. It queries PostgreSQL only
 * while something waits. A process counts as dead after several missed leases in a row, because
 * after an outage living processes need a moment to renew.
 */
import type { HubProcessId } from '@flotilla/mcp';
import type { Registry } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import type { FleetLogger } from '../fleet-logger.js';

/** Something that waits for processes. */
interface ProcessWaiter {
  /** The processes that it waits for now. */
  awaited(): Iterable<HubProcessId>;
  /** The process has lost its lease. Comes again for as long as the process is awaited. */
  ended(processId: HubProcessId): void;
}

const lookEveryMs = 1_000;
/** With the pause between them, 2 to 3 s after the end of a lease; 5 s are promised. */
const missesMax = 3;

interface WatchDeps {
  readonly registry: Pick<Registry, 'livingProcesses'>;
  readonly clock: Pick<Clock, 'setTimer'>;
  readonly logger: FleetLogger;
}

export class ProcessWatch {
  readonly #waiters = new Set<ProcessWaiter>();
  /** Looks in a row in which an awaited process had no living lease. */
  readonly #misses = new Map<HubProcessId, number>();
  #cancelTimer: (() => void) | undefined;
  #isStopped = false;

  constructor(private readonly deps: WatchDeps) {
    this.#lookLater();
  }

  /** Returns a function that ends it. */
  add(waiter: ProcessWaiter): () => void {
    this.#waiters.add(waiter);
    return () => void this.#waiters.delete(waiter);
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer?.();
  }

  #lookLater(): void {
    if (!this.#isStopped) this.#cancelTimer = this.deps.clock.setTimer(lookEveryMs, () => void this.#look());
  }

  async #look(): Promise<void> {
    const awaited = new Set([...this.#waiters].flatMap((waiter) => [...waiter.awaited()]));
    try {
      const living = awaited.size === 0 ? undefined : await this.deps.registry.livingProcesses();
      if (living === undefined) this.#misses.clear();
      else this.#judge(awaited, living);
    } catch {
      // PostgreSQL is away: no lease can be renewed, and none is known to have ended.
      this.#misses.clear();
    }
    this.#lookLater();
  }

  #judge(awaited: ReadonlySet<HubProcessId>, living: ReadonlySet<HubProcessId>): void {
    for (const id of this.#misses.keys()) if (!awaited.has(id) || living.has(id)) this.#misses.delete(id);
    for (const id of awaited) {
      if (living.has(id)) continue;
      const misses = (this.#misses.get(id) ?? 0) + 1;
      this.#misses.set(id, misses);
      if (misses < missesMax) continue;
      if (misses === missesMax)
        this.deps.logger.warn({ processId: id }, 'a hub process has lost its lease: calls that wait for it end');
      for (const waiter of this.#waiters) waiter.ended(id);
    }
  }
}
