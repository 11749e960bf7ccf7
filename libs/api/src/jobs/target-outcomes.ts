/** The outcomes of targets: all but NOT_SENT, which only single calls have. */
import type { TargetOutcome } from '@flotilla/jobs';
import type { Outcome } from '../generated/schema-types.js';

/** No target is NOT_SENT, so it is removed; an empty list also finds nothing. */
export function targetOutcomes(outcomes: readonly Outcome[]): readonly TargetOutcome[] {
  return outcomes.filter((outcome) => outcome !== 'NOT_SENT');
}
