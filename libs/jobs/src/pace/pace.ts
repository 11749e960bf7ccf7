/**
 * How many targets of a job may be sent per minute: a ramp that climbs on successes and falls back
 * when devices fail. [jobs §14]
 */
import type { AbortRule } from '../abort/abort-rule.js';
import type { Job } from '../job-types.js';

interface Pace {
  /** Targets per minute at most. */
  readonly max: number;
  /** Targets per minute where the ramp begins, and as long as too many fail. */
  readonly base: number;
  /** Disruptive jobs begin at the base; others at the most. */
  readonly isRamped: boolean;
}

/** Share of the asked-for pace that a ramp begins with: three doublings below it. */
const baseShare = 1 / 8;
const rampFactor = 2;

/** Undefined where the job has no pace: slots alone bound it. */
export function paceOf({ perMinute, disruptive }: Pick<Job, 'perMinute' | 'disruptive'>): Pace | undefined {
  if (perMinute === undefined) return undefined;
  return { max: perMinute, base: Math.max(1, Math.floor(perMinute * baseShare)), isRamped: disruptive };
}

/**
 * Targets per minute. As many successes as the base double it, so a restarted hub continues from
 * the counters.
 */
export function ratePerMinute({ max, base, isRamped }: Pace, succeeded: number, isFailing: boolean): number {
  if (isFailing) return base;
  return isRamped ? Math.min(max, base * rampFactor ** Math.floor(succeeded / base)) : max;
}

/** How long so many sends take where each succeeds at once, s: the least that the pace allows. */
export function secondsAtPace({ max, base, isRamped }: Pace, sends: number): number {
  let left = sends;
  let seconds = 0;
  for (let rate = base; isRamped && rate < max && left > 0; rate *= rampFactor) {
    const sent = Math.min(left, base);
    seconds += (sent * 60) / rate;
    left -= sent;
  }
  return Math.ceil(seconds + (left * 60) / max);
}

/** Ends over the last minute. */
interface RecentEnds {
  readonly decided: number;
  readonly failed: number;
}

/** Whether more failed than half of what the strictest ratio of the rules allows. */
export function isFailing({ decided, failed }: RecentEnds, rules: readonly AbortRule[]): boolean {
  const ratios = rules.flatMap(({ ratio }) => ratio ?? []);
  return ratios.length > 0 && decided > 0 && failed / decided > Math.min(...ratios) / 2;
}
