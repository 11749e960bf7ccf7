/** Outcomes that a target can have: all of the schema's but NOT_SENT, which only a single call ends in. */
import type { TargetOutcome } from '@flotilla/jobs';
import type { Outcome } from '../generated/schema-types.js';

/** Asking for NOT_SENT finds nothing, so it is left out; alone it leaves an empty list, which also finds nothing. */
export function targetOutcomes(outcomes: readonly Outcome[]): readonly TargetOutcome[] {
  return outcomes.filter((outcome) => outcome !== 'NOT_SENT');
}
