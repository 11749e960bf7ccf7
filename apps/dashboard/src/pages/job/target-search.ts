/** Which targets of a job are shown, as its address carries it. */
import type { Outcome } from './generated/job';

export const targetOutcomes = [
  'SUCCEEDED',
  'NO_CHANGE',
  'FAILED',
  'REJECTED',
  'VERIFY_FAILED',
  'UNKNOWN',
  'EXPIRED',
  'CANCELLED',
  'SKIPPED',
] as const satisfies readonly Outcome[];

export interface TargetSearch {
  readonly outcomes?: readonly Outcome[];
}

export function parseTargetSearch({ outcomes }: Readonly<Record<string, unknown>>): TargetSearch {
  const chosen: readonly unknown[] = Array.isArray(outcomes) ? outcomes : [];
  const known = targetOutcomes.filter((outcome) => chosen.includes(outcome));
  return known.length > 0 ? { outcomes: known } : {};
}
