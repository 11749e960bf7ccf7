/**
 * What keeps a job stopped now, or has ended it: an abort rule or the health gate. A job keeps its
 * latest tripped rule for ever.
 */

export interface StoppableJob {
  readonly state: string;
  readonly pauseReason: string | null;
  readonly conclusion: string | null;
  readonly trippedRule: { readonly action: string } | null;
  readonly healthGate: { readonly action: string } | null;
  readonly trippedHealthGate: object | null;
}

type StopCause = 'ABORT_RULE' | 'HEALTH_GATE';

export function stopCause(job: StoppableJob): StopCause | undefined {
  const { state, pauseReason, conclusion, trippedRule, healthGate, trippedHealthGate } = job;
  if (state === 'PAUSED') {
    if (pauseReason === 'ABORT_RULE' && trippedRule !== null) return 'ABORT_RULE';
    return pauseReason === 'HEALTH_GATE' && trippedHealthGate !== null ? 'HEALTH_GATE' : undefined;
  }
  if (state !== 'CANCELLING' && conclusion !== 'ABORTED') return undefined;
  if (trippedRule?.action === 'CANCEL') return 'ABORT_RULE';
  // A cancelling job has no conclusion yet. A job that its gate pauses until it expires ends as
  // ABORTED, too.
  const isEndedByGate = conclusion === 'ABORTED' || healthGate?.action === 'CANCEL';
  return isEndedByGate && trippedHealthGate !== null ? 'HEALTH_GATE' : undefined;
}
