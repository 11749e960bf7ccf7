/** Whether the job of an edit has ended, and devices are left that it has not reached. */
import type { DesiredSeenFragment } from './generated/desired';

/** The hub never settles an edit whose job was stopped. */
const stopped: ReadonlySet<string | null> = new Set(['ABORTED', 'CANCELLED', 'EXPIRED', 'DENIED']);

export function hasLeftDevices({
  state,
  conclusion,
  progress,
}: Omit<NonNullable<DesiredSeenFragment['rollout']>, 'id'>): boolean {
  return state === 'FINISHED' && (stopped.has(conclusion) || progress.expired + progress.cancelled > 0);
}
