/** The summary of a desired state as counts by state. */
import { complianceLooks, complianceStates, type ComplianceState } from './compliance-looks';

export type ComplianceCounts = Readonly<Record<ComplianceState, number>>;

interface SummaryCounts {
  readonly targeted: number;
  readonly inSync: number;
  readonly applying: number;
  readonly retrying: number;
  readonly waitingDevice: number;
  readonly drifted: number;
  readonly held: number;
  readonly conflict: number;
  readonly unsupported: number;
  readonly overridden: number;
  readonly outOfWindow: number;
  readonly failed: number;
}

export function countsOf(summary: SummaryCounts): ComplianceCounts {
  return {
    IN_SYNC: summary.inSync,
    APPLYING: summary.applying,
    RETRYING: summary.retrying,
    WAITING_DEVICE: summary.waitingDevice,
    DRIFTED: summary.drifted,
    HELD: summary.held,
    CONFLICT: summary.conflict,
    FAILED: summary.failed,
    UNSUPPORTED: summary.unsupported,
    OVERRIDDEN: summary.overridden,
    OUT_OF_WINDOW: summary.outOfWindow,
  };
}

/** Devices to which the desired state applies and that differ, or may differ. */
export function outOfSyncOf(summary: SummaryCounts): number {
  const counts = countsOf(summary);
  return complianceStates.reduce((sum, state) => sum + (complianceLooks[state].isOut ? counts[state] : 0), 0);
}
