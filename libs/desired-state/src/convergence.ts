/** How far an edit has come: t50, t95 and t99. */
import type { ComplianceState } from './entry.js';

type ComplianceCounts = ReadonlyMap<ComplianceState, number>;

/** The states of devices that are online and can be in sync. */
const reachable: readonly ComplianceState[] = ['IN_SYNC', 'APPLYING', 'RETRYING', 'DRIFTED', 'FAILED'];

/** The devices that must be in sync. */
function reachableCount(counts: ComplianceCounts): number {
  return reachable.reduce((sum, state) => sum + (counts.get(state) ?? 0), 0);
}

/** Whether that share of the reachable ones, such as 0.95, is in sync with the latest edit. */
export function hasConverged(counts: ComplianceCounts, inSyncCount: number, share: number): boolean {
  const total = reachableCount(counts);
  return total > 0 && inSyncCount >= Math.ceil(total * share);
}
