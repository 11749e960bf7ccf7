/**
 * The progress of jobs within access scopes. It is counted from rows instead of counters, and
 * followers request it twice a second. Viewers with the same scope share a count, for a time that
 * grows with its cost.
 */
import type { JobProgress } from '@flotilla/jobs';
import type { JobId } from '@flotilla/mcp';
import { LRUCache } from 'lru-cache';
import type { JobScope } from '../job-scope.js';

/** By wave number. */
export type WaveProgress = ReadonlyMap<number, JobProgress>;

interface ProgressReads {
  /** Over all targets, from the counters, in the order of the input. */
  whole(ids: readonly JobId[]): Promise<readonly WaveProgress[]>;
  /** Over the targets in the scope, from the rows, in the order of the input. */
  counted(ids: readonly JobId[], scope: JobScope): Promise<readonly WaveProgress[]>;
  /** Monotonic milliseconds. */
  now(): number;
}

interface Count {
  readonly progress: Promise<WaveProgress>;
  /** Whether all targets were decided when the count began. */
  readonly isFinal: boolean;
  /** Infinity while the query runs. */
  usedUntil: number;
}

/**
 * A count is used for this many times its duration: counting keeps PostgreSQL busy for 5 % of the
 * time, per job and scope.
 */
const USED_TIMES = 19;
/** Cached counts of jobs and scopes. Others are counted each time. */
const COUNTS_MAX = 1_000;

export class ScopedProgress {
  readonly #counts = new LRUCache<string, Count>({ max: COUNTS_MAX });

  constructor(private readonly reads: ProgressReads) {}

  /** In the order of the input. The last progress of a finished job is never older than its end. */
  async of(ids: readonly JobId[], scope: JobScope): Promise<readonly WaveProgress[]> {
    const scopeKey = JSON.stringify(scope);
    const wholes = await this.reads.whole(ids);
    const now = this.reads.now();
    const keyOf = (id: JobId) => `${id} ${scopeKey}`;
    const usable = (id: JobId, isOver: boolean) => {
      const count = this.#counts.get(keyOf(id));
      return count !== undefined && now < count.usedUntil && (count.isFinal || !isOver) ? count.progress : undefined;
    };
    const found = ids.map((id, index) => usable(id, isDecided(wholes[index])));
    const missing = ids.filter((_, index) => found[index] === undefined);
    const isFinal = (id: JobId) => isDecided(wholes[ids.indexOf(id)]);
    const counted = missing.length > 0 ? this.#count(missing, scope, { keyOf, isFinal }) : [];
    return Promise.all(
      ids.map((id, index) => found[index] ?? counted[missing.indexOf(id)] ?? new Map<number, JobProgress>()),
    );
  }

  /** Counts with one statement. A failed count is not kept. */
  #count(ids: readonly JobId[], scope: JobScope, of: { keyOf(id: JobId): string; isFinal(id: JobId): boolean }) {
    const from = this.reads.now();
    const counted = this.reads.counted(ids, scope);
    return ids.map((id, index) => {
      const progress = counted.then((all) => all[index] ?? new Map<number, JobProgress>());
      const count: Count = { progress, isFinal: of.isFinal(id), usedUntil: Infinity };
      this.#counts.set(of.keyOf(id), count);
      progress.then(
        () => {
          const at = this.reads.now();
          count.usedUntil = at + (at - from) * USED_TIMES;
        },
        () => this.#counts.delete(of.keyOf(id)),
      );
      return progress;
    });
  }
}

function isDecided(whole: WaveProgress | undefined): boolean {
  return [...(whole?.values() ?? [])].every(
    ({ pending, waitingDevice, inFlight, verifying }) => pending + waitingDevice + inFlight + verifying === 0,
  );
}
