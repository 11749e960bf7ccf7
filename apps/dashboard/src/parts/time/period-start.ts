/**
 * The start of a period that ends now, as an ISO time. It moves on in steps, because each start is
 * another request, and its answer stays in the cache.
 */

/** Ms. */
const stepMsMin = 600_000;

/** The period is as long as `lengthMs`, and up to one step longer. */
export function periodStart(lengthMs: number, stepMs = Math.max(stepMsMin, lengthMs / 24), now = Date.now()): string {
  return new Date(Math.floor(now / stepMs) * stepMs - lengthMs).toISOString();
}
