import type { ComplianceState } from '@flotilla/desired-state';
import type { DesiredStateRow, DesiredStateSummaryRow } from '@flotilla/registry';
import type { DesiredStateSummary } from '../generated/schema-types.js';

/** The counts and times of a desired state, as the API names them. */
export function summaryOf(
  { t50Ms, t95Ms, t99Ms }: DesiredStateRow,
  { counts, oldestDriftAt }: DesiredStateSummaryRow,
): Omit<DesiredStateSummary, '__typename'> {
  const of = (state: ComplianceState): number => counts.get(state) ?? 0;
  return {
    targeted: [...counts.values()].reduce((sum, count) => sum + count, 0),
    inSync: of('IN_SYNC'),
    applying: of('APPLYING'),
    retrying: of('RETRYING'),
    waitingDevice: of('WAITING_DEVICE'),
    drifted: of('DRIFTED'),
    held: of('HELD'),
    conflict: of('CONFLICT'),
    unsupported: of('UNSUPPORTED'),
    overridden: of('OVERRIDDEN'),
    outOfWindow: of('OUT_OF_WINDOW'),
    failed: of('FAILED'),
    t50Seconds: seconds(t50Ms),
    t95Seconds: seconds(t95Ms),
    t99Seconds: seconds(t99Ms),
    oldestDriftAt,
  };
}

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1_000;
}
