/** Statistics of rare events: intervals of a rate, and the comparison of two rates. */

/** Events, and the time in which they happened. */
interface Exposure {
  readonly events: number;
  readonly hours: number;
}

/** One side of a two-sided 95 % interval, and its quantile of the normal distribution. */
const tail = 0.025;
const deviations = 1.959964;
/**
 * Up to so many events the bounds are exact sums. Above, they would block the process for long, and
 * approximations differ from them by less than 0.001 %.
 */
const exactMax = 200;

/** The 95 % interval of a rate per hour; undefined without exposure. */
export function rateInterval({ events, hours }: Exposure): { readonly low: number; readonly high: number } | undefined {
  if (hours <= 0) return undefined;
  return { low: lowestMean(events) / hours, high: highestMean(events) / hours };
}

/** Whether the lower 95 % bound of the first rate divided by `times` the second is above 1. */
export function isRateAbove(one: Exposure, other: Exposure, times = 1): boolean {
  if (one.events === 0 || other.hours <= 0) return false;
  // Given the sum, the first count is binomial where the rates are equal.
  return isUnlikely(one.events, one.events + other.events, (times * one.hours) / other.hours);
}

/** The same against a rate per hour that is known. */
export function isRateAboveBound({ events, hours }: Exposure, perHour: number): boolean {
  return lowestMean(events) > perHour * hours;
}

function lowestMean(events: number): number {
  if (events === 0) return 0;
  if (events > exactMax) return gammaQuantile(events, -deviations);
  return solve((mean) => 1 - poissonBelow(events, mean) >= tail, events);
}

function highestMean(events: number): number {
  if (events >= exactMax) return gammaQuantile(events + 1, deviations);
  return solve((mean) => poissonBelow(events + 1, mean) <= tail, events + 1);
}

/** Approximated by Wilson and Hilferty. */
function gammaQuantile(shape: number, normalQuantile: number): number {
  return shape * (1 - 1 / (9 * shape) + normalQuantile / (3 * Math.sqrt(shape))) ** 3;
}

/** P(X < count) of a Poisson distribution. */
function poissonBelow(count: number, mean: number): number {
  let [sum, term] = [0, Math.exp(-mean)];
  for (let k = 0; k < count; k++) {
    sum += term;
    term *= mean / (k + 1);
  }
  return Math.min(1, sum);
}

/** Whether P(X >= count) of a binomial distribution is in the tail, given the odds of a success. */
function isUnlikely(count: number, trials: number, odds: number): boolean {
  if (odds <= 0) return true;
  const others = trials - count + 1;
  if (Math.min(count, others) > exactMax) return isUnlikelyRatio(count, others, odds);
  // The shorter one of the two sums.
  const chance = count <= others ? 1 - binomialBelow(count, trials, odds) : binomialBelow(others, trials, 1 / odds);
  return chance < tail;
}

/** P(X < count) of a binomial distribution. */
function binomialBelow(count: number, trials: number, odds: number): number {
  let [sum, term] = [0, Math.exp(-trials * Math.log1p(odds))];
  for (let k = 0; k < count; k++) {
    sum += term;
    term *= ((trials - k) / (k + 1)) * odds;
  }
  return Math.min(1, sum);
}

/** The same over the F distribution of the ratio, approximated by Wilson, Hilferty and Paulson. */
function isUnlikelyRatio(count: number, others: number, odds: number): boolean {
  const root = Math.cbrt((odds * others) / count);
  const [own, other] = [1 / (9 * count), 1 / (9 * others)];
  return ((1 - other) * root - (1 - own)) / Math.sqrt(other * root ** 2 + own) < -deviations;
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
