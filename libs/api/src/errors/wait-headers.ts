/** The header fields of a refusal that time cures. */
import { TooManyFailuresError } from '../access/key-failures.js';
import { budgetHeaders, RateLimitedError } from '../limits/cost-budget.js';

/** Ms until the request may be sent again; undefined where waiting does not help. */
export function waitMsOf(error: unknown): number | undefined {
  if (error instanceof RateLimitedError) return error.state.resetMs;
  return error instanceof TooManyFailuresError ? error.retryAfterMs : undefined;
}

/** None where waiting does not help. */
export function waitHeaders(error: unknown): Readonly<Record<string, string>> {
  if (error instanceof RateLimitedError) return budgetHeaders(error.state, true);
  const waitMs = waitMsOf(error);
  return waitMs === undefined ? {} : { 'retry-after': String(Math.ceil(waitMs / 1_000)) };
}
