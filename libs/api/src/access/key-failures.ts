/**
 * Counts failed authentication by address. After too many failures, each further failure gets
 * RATE_LIMITED and the time to wait. Valid keys and sessions are never counted or refused. Each
 * process counts for itself.
 */
import { networkOf } from '@flotilla/fleet';
import { LRUCache } from 'lru-cache';
import { ApiError } from '../errors/api-error.js';

/** Addresses that are remembered; the one that failed longest ago goes first. */
const ADDRESSES_MAX = 10_000;

interface FailureLimits {
  /** Failures of one address (IPv6: one /64) in the time below that are answered as such. */
  readonly failuresMax: number;
  readonly windowMs: number;
}

/**
 * More than misconfigured programs behind one address cause in a minute, and far too few to guess a
 * key.
 */
const defaultFailureLimits: FailureLimits = { failuresMax: 300, windowMs: 60_000 };

export class TooManyFailuresError extends ApiError {
  constructor(readonly retryAfterMs: number) {
    const seconds = Math.ceil(retryAfterMs / 1_000);
    super(
      'RATE_LIMITED',
      `Too many requests with invalid keys from this address. Check the key, and try again in ${seconds} s.`,
    );
    this.name = 'TooManyFailuresError';
  }
}

interface Failures {
  count: number;
  readonly endsAt: number;
}

export class KeyFailures {
  // RateLimiterMemory has no limit for keys, and an attacker chooses the addresses.
  readonly #byNetwork = new LRUCache<string, Failures>({ max: ADDRESSES_MAX });

  constructor(
    private readonly limits: FailureLimits = defaultFailureLimits,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Counts a failure. Returns the ms to wait where it is one too many. */
  count(address: string | undefined): number | undefined {
    const now = this.now();
    const network = networkOf(address ?? '');
    const known = this.#byNetwork.get(network);
    const failures = known !== undefined && now < known.endsAt ? known : this.#begin(network, now);
    failures.count += 1;
    return failures.count > this.limits.failuresMax ? failures.endsAt - now : undefined;
  }

  #begin(network: string, now: number): Failures {
    const failures = { count: 0, endsAt: now + this.limits.windowMs };
    this.#byNetwork.set(network, failures);
    return failures;
  }
}
