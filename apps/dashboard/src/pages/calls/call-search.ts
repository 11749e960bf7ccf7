/** Which calls the Calls page shows, as its address carries it. Without a choice these are all. */
import type { CallFilter } from '../../parts/calls/generated/calls';
import { isText } from '../../parts/unknown-values';

/** As `flotilla calls --failed` has them. */
export const failedOutcomes = ['FAILED', 'REJECTED', 'VERIFY_FAILED', 'UNKNOWN', 'NOT_SENT', 'EXPIRED'] as const;
/** How single calls and calls of jobs end. */
export const callOutcomes = ['SUCCEEDED', 'NO_CHANGE', ...failedOutcomes, 'CANCELLED', 'SKIPPED'] as const;
type CallOutcome = (typeof callOutcomes)[number];

/** Times to look back, in hours: up to a week, and a month. */
export const spans = [1, 24, 168, 744] as const;
type Span = (typeof spans)[number];

export interface CallSearch {
  readonly tool?: string;
  readonly device?: string;
  readonly outcomes?: readonly CallOutcome[];
  readonly hours?: Span;
}

export function parseCallSearch({ tool, device, outcomes, hours }: Readonly<Record<string, unknown>>): CallSearch {
  const given: readonly unknown[] = Array.isArray(outcomes) ? outcomes : [outcomes];
  const wanted = callOutcomes.filter((outcome) => given.includes(outcome));
  const span = spans.find((each) => each === Number(hours));
  return {
    ...(isText(tool) && { tool: String(tool) }),
    ...(isText(device) && { device: String(device) }),
    ...(wanted.length > 0 && { outcomes: wanted }),
    ...(span !== undefined && { hours: span }),
  };
}

/** `now`: ms since the Unix epoch. */
export function callFilterOf({ tool, device, outcomes, hours }: CallSearch, now: number): CallFilter {
  return {
    ...(tool !== undefined && { tool }),
    ...(device !== undefined && { deviceId: device }),
    ...(outcomes !== undefined && { outcomes }),
    ...(hours !== undefined && { since: new Date(now - hours * 3_600_000).toISOString() }),
  };
}

/** The address of the same calls as a file. */
export function callFileOf(search: CallSearch, now: number): string {
  const { tool, deviceId, outcomes, since } = callFilterOf(search, now);
  const query = new URLSearchParams([
    ...Object.entries({ tool, deviceId, since }).flatMap(([name, value]) => (value ? [[name, value]] : [])),
    ...(outcomes ?? []).map((outcome) => ['outcome', outcome]),
  ]);
  return `/api/calls.csv${query.size > 0 ? `?${query.toString()}` : ''}`;
}
