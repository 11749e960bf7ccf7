/** Whether an abort rule keeps a job stopped now. A job keeps its latest tripped rule for ever. */
import type { JobSeenFragment } from './generated/job';

type StoppableJob = Pick<JobSeenFragment, 'state' | 'pauseReason' | 'conclusion'> & {
  readonly trippedRule: Pick<NonNullable<JobSeenFragment['trippedRule']>, 'action'> | null;
};

export function isStoppedByRule({ state, pauseReason, conclusion, trippedRule }: StoppableJob): boolean {
  if (trippedRule === null) return false;
  if (state === 'PAUSED') return pauseReason === 'ABORT_RULE';
  return trippedRule.action === 'CANCEL' && (state === 'CANCELLING' || conclusion === 'ABORTED');
}
