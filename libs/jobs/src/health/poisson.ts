/** Exact statistics of rare events: intervals of a rate, and the comparison of two rates. */

/** Events, and the time in which they happened. */
export interface Exposure {
  readonly events: number;
  readonly hours: number;
}

/** One side of a two-sided 95 % interval. */
const tail = 0.025;

/** The exact 95 % interval of a rate per hour; undefined without exposure. */
export function rateInterval({ events, hours }: Exposure): { readonly low: number; readonly high: number } | undefined {
  if (hours <= 0) return undefined;
  const low = events === 0 ? 0 : solve((mean) => 1 - poissonBelow(events, mean) >= tail, events);
  const high = solve((mean) => poissonBelow(events + 1, mean) <= tail, events + 1);
  return { low: low / hours, high: high / hours };
}

/** Whether the lower 95 % bound of the first rate divided by `times` the second is above 1. */
export function isRateAbove(one: Exposure, other: Exposure, times = 1): boolean {
  if (one.events === 0 || other.hours <= 0) return false;
  const share = (times * one.hours) / (times * one.hours + other.hours);
  // Given the sum, the first count is binomial where the rates are equal.
  return binomialFrom(one.events, one.events + other.events, share) < tail;
}

/** The same against a rate per hour that is known. */
export function isRateAboveBound({ events, hours }: Exposure, perHour: number): boolean {
  return events > 0 && 1 - poissonBelow(events, perHour * hours) < tail;
}

/** P(X < count) of a Poisson distribution. */
function poissonBelow(count: number, mean: number): number {
  if (mean <= 0) return count > 0 ? 1 : 0;
  let sum = 0;
  for (let k = 0; k < count; k++) sum += Math.exp(k * Math.log(mean) - mean - logFactorial(k));
  return Math.min(1, sum);
}

/** P(X >= count) of a binomial distribution. */
function binomialFrom(count: number, trials: number, share: number): number {
  if (count <= 0) return 1;
  if (share <= 0) return 0;
  if (share >= 1) return 1;
  let sum = 0;
  for (let k = count; k <= trials; k++)
    sum += Math.exp(
      logFactorial(trials) -
        logFactorial(k) -
        logFactorial(trials - k) +
        k * Math.log(share) +
        (trials - k) * Math.log1p(-share),
    );
  return Math.min(1, sum);
}

/** The smallest mean from which `isReached` holds. */
function solve(isReached: (mean: number) => boolean, near: number): number {
  let [low, high] = [0, near + 1];
  while (!isReached(high)) high *= 2;
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (isReached(middle)) high = middle;
    else low = middle;
  }
  return high;
}

const logFactorials: number[] = [0];

function logFactorial(n: number): number {
  for (let k = logFactorials.length; k <= n; k++) logFactorials.push((logFactorials[k - 1] ?? 0) + Math.log(k));
  return logFactorials[n] ?? 0;
}
