/** The pace of one job's run: a bucket of tokens whose rate follows the job's successes and recent failures. */
import { emptyBucket, isFailing, paceOf, ratePerMinute, refilled, takeable, waitMs, withTaken } from '@flotilla/jobs';
import type { Job, JobProgress, Pace, TokenBucket } from '@flotilla/jobs';

/** Time over which failures are held against the pace, ms. */
const windowMs = 60_000;
/** Apart at least, ms: what the window remembers is bounded by it. */
const sampleMs = 1_000;

interface Sample {
  readonly at: number;
  readonly decided: number;
  readonly failed: number;
}

export class JobPace {
  readonly #pace: Pace | undefined;
  readonly #rules: Job['abortRules'];
  #bucket: TokenBucket;
  #samples: readonly Sample[] = [];
  #succeeded = 0;
  #isFailing = false;

  constructor(job: Pick<Job, 'perMinute' | 'disruptive' | 'abortRules'>, now: number) {
    this.#pace = paceOf(job);
    this.#rules = job.abortRules;
    this.#bucket = emptyBucket(now);
  }

  get isBounded(): boolean {
    return this.#pace !== undefined;
  }

  /** Takes note of the job's counters. */
  observe({ succeeded, failed, rejected, verifyFailed, unknown }: JobProgress, now: number): void {
    const bad = failed + rejected + verifyFailed + unknown;
    const sample = { at: now, decided: bad + succeeded, failed: bad };
    const latest = this.#samples.at(-1);
    const from = this.#samples.findLast(({ at }) => at <= now - windowMs) ?? this.#samples[0] ?? sample;
    if (latest === undefined || now - latest.at >= sampleMs) {
      this.#samples = [...this.#samples.filter(({ at }) => at >= from.at), sample];
    }
    this.#succeeded = succeeded;
    this.#isFailing = isFailing(
      { decided: sample.decided - from.decided, failed: sample.failed - from.failed },
      this.#rules,
    );
  }

  /** Of `wanted` sends those that may be made now. */
  allowed(wanted: number, now: number): number {
    const rate = this.#rate;
    if (rate === undefined) return wanted;
    this.#bucket = refilled(this.#bucket, rate, now);
    return takeable(this.#bucket, rate, wanted);
  }

  spend(count: number): void {
    if (this.#pace !== undefined) this.#bucket = withTaken(this.#bucket, count);
  }

  /** Ms until something is allowed. */
  get waitMs(): number {
    const rate = this.#rate;
    return rate === undefined ? 0 : waitMs(this.#bucket, rate);
  }

  get #rate(): number | undefined {
    return this.#pace && ratePerMinute(this.#pace, this.#succeeded, this.#isFailing);
  }
}
