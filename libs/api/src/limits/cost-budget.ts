/**
 * The budget of each caller per second, in the points of operation-cost.ts. Each API process counts
 * for itself.
 */
import { principalRef, type Principal } from '@flotilla/registry';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { ApiError } from '../errors/api-error.js';

/** A budget is full again this many seconds after its first point was spent. */
const refillSeconds = 1;

export interface BudgetState {
  /** Points of this request. */
  readonly cost: number;
  readonly limit: number;
  readonly remaining: number;
  /** Until the budget is full again, ms. */
  readonly resetMs: number;
}

export class RateLimitedError extends ApiError {
  constructor(readonly state: BudgetState) {
    super(
      'RATE_LIMITED',
      `You may spend ${state.limit} points per second, and this request costs ${state.cost}, ` +
        `which is more than is left. Try again in ${state.resetMs} ms.`,
    );
    this.name = 'RateLimitedError';
  }
}

export class CostBudget {
  readonly #limit: number;
  readonly #spent: RateLimiterMemory;

  constructor(pointsPerSecond: number) {
    this.#limit = pointsPerSecond;
    this.#spent = new RateLimiterMemory({ points: pointsPerSecond, duration: refillSeconds });
  }

  /** Throws RateLimitedError where the caller has spent too much. */
  async spend(viewer: Principal, cost: number): Promise<BudgetState> {
    try {
      return this.#stateAfter(cost, await this.#spent.consume(principalRef(viewer), cost));
    } catch (error) {
      if (error instanceof RateLimiterRes) throw new RateLimitedError(this.#stateAfter(cost, error));
      throw error;
    }
  }

  #stateAfter(cost: number, { remainingPoints, msBeforeNext }: RateLimiterRes): BudgetState {
    return { cost, limit: this.#limit, remaining: remainingPoints, resetMs: msBeforeNext };
  }
}

/**
 * The fields of the IETF draft "RateLimit header fields for HTTP", and `Retry-After` without
 * budget.
 */
export function budgetHeaders(
  { limit, remaining, resetMs }: BudgetState,
  isRefused = false,
): Readonly<Record<string, string>> {
  const seconds = String(Math.ceil(resetMs / 1_000));
  return {
    'ratelimit-limit': String(limit),
    'ratelimit-remaining': String(remaining),
    'ratelimit-reset': seconds,
    ...(isRefused && { 'retry-after': seconds }),
  };
}
