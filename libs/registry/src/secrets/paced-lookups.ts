/**
 * Looks up secrets that this process does not know, so that strangers who guess cannot keep
 * PostgreSQL busy: what waits is asked with one statement, and statements that find nothing are
 * paced. A valid secret waits one step at most.
 */
import { RegistryError } from '../registry-error.js';

/** Statements in a row that may find nothing, and how many more a second from then on. */
const MISSES_BURST = 50;
const MISSES_PER_SECOND = 20;
/** Secrets of one statement. */
const BATCH_MAX = 1_000;
/** Secrets that wait: half a second of batches. */
const WAITING_MAX = 10_000;

interface Waiting<Found> {
  readonly resolve: (found: Found | undefined) => void;
  readonly reject: (error: unknown) => void;
}

export class PacedLookups<Found> {
  /**
   * By hash. What a statement has begun to look for is no longer here, because an answer may be
   * older than the question.
   */
  readonly #waiting = new Map<string, Waiting<Found>[]>();
  #allowance = MISSES_BURST;
  #countedAt: number;
  #isBusy = false;

  constructor(
    private readonly find: (hashes: readonly string[]) => Promise<ReadonlyMap<string, Found>>,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.#countedAt = now();
  }

  ask(hash: string): Promise<Found | undefined> {
    if (this.#waiting.size >= WAITING_MAX)
      return Promise.reject(
        new RegistryError('OVERLOADED', `More than ${String(WAITING_MAX)} unknown secrets wait to be looked up.`),
      );
    const answer = new Promise<Found | undefined>((resolve, reject) => {
      const waiting = this.#waiting.get(hash) ?? [];
      waiting.push({ resolve, reject });
      this.#waiting.set(hash, waiting);
    });
    this.#next();
    return answer;
  }

  #next(): void {
    if (this.#isBusy || this.#waiting.size === 0) return;
    this.#isBusy = true;
    const delayMs = this.#delayMs();
    if (delayMs === 0) void this.#look();
    else setTimeout(() => void this.#look(), delayMs);
  }

  async #look(): Promise<void> {
    const batch = [...this.#waiting].slice(0, BATCH_MAX);
    for (const [hash] of batch) this.#waiting.delete(hash);
    try {
      const found = await this.find(batch.map(([hash]) => hash));
      if (found.size === 0) this.#allowance -= 1;
      for (const [hash, waiting] of batch) for (const { resolve } of waiting) resolve(found.get(hash));
    } catch (error) {
      for (const [, waiting] of batch) for (const { reject } of waiting) reject(error);
    }
    this.#isBusy = false;
    this.#next();
  }

  /** Until a statement that finds nothing is allowed again. */
  #delayMs(): number {
    const now = this.now();
    this.#allowance = Math.min(MISSES_BURST, this.#allowance + ((now - this.#countedAt) / 1_000) * MISSES_PER_SECOND);
    this.#countedAt = now;
    return this.#allowance >= 1 ? 0 : Math.ceil(((1 - this.#allowance) * 1_000) / MISSES_PER_SECOND);
  }
}
