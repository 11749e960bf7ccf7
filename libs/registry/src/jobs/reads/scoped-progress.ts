/**
 * The progress of jobs as narrowed viewers see it. It is counted over rows, while everybody else's is read from counters, and a follower asks twice a second:
 * a count is therefore used again for a while that grows with what it cost, by everybody who is narrowed alike.
 */
import type { JobProgress } from '@flotilla/jobs';
import type { JobId } from '@flotilla/mcp';
import { BoundedCache } from '../../devices/bounded-cache.js';
import type { JobSight } from '../job-types.js';

/** Of each wave. */
export type WaveProgress = ReadonlyMap<number, JobProgress>;

export interface ProgressReads {
  /** Over all targets, from the counters. In the order of the input, as the other. */
  whole(ids: readonly JobId[]): Promise<readonly WaveProgress[]>;
  /** Over the targets that are seen, from the rows. */
  counted(ids: readonly JobId[], sight: JobSight): Promise<readonly WaveProgress[]>;
  /** Milliseconds that never go back. */
  now(): number;
}

interface Count {
  readonly progress: Promise<WaveProgress>;
  /** No target was left to decide when it was begun. */
  readonly isFinal: boolean;
  /** Infinity while it runs. */
  usedUntil: number;
}

/** A count is used this many times as long as it took: counting keeps PostgreSQL busy a twentieth of the time at most, for each job and narrowing. */
const USED_TIMES = 19;
/** Jobs and narrowings that are followed at once: what does not fit is counted each time. */
const COUNTS_MAX = 1_000;

export class SeenProgress {
  readonly #counts = new BoundedCache<string, Count>(COUNTS_MAX);

  constructor(private readonly reads: ProgressReads) {}

  /** In the order of the input. What is told last of a job is never older than its end. */
  async of(ids: readonly JobId[], sight: JobSight): Promise<readonly WaveProgress[]> {
    const narrowing = JSON.stringify(sight);
    const wholes = await this.reads.whole(ids);
    const now = this.reads.now();
    const keyOf = (id: JobId) => `${id} ${narrowing}`;
    const usable = (id: JobId, isOver: boolean) => {
      const count = this.#counts.get(keyOf(id));
      return count !== undefined && now < count.usedUntil && (count.isFinal || !isOver) ? count.progress : undefined;
    };
    const found = ids.map((id, index) => usable(id, isDecided(wholes[index])));
    const missing = ids.filter((_, index) => found[index] === undefined);
    const isFinal = (id: JobId) => isDecided(wholes[ids.indexOf(id)]);
    const counted = missing.length > 0 ? this.#count(missing, sight, { keyOf, isFinal }) : [];
    return Promise.all(
      ids.map((id, index) => found[index] ?? counted[missing.indexOf(id)] ?? new Map<number, JobProgress>()),
    );
  }

  /** With one statement. One that fails is forgotten. */
  #count(ids: readonly JobId[], sight: JobSight, of: { keyOf(id: JobId): string; isFinal(id: JobId): boolean }) {
    const from = this.reads.now();
    const counted = this.reads.counted(ids, sight);
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
