/** Which devices of a desired state are shown, as its address carries it. */
import { type ComplianceState, complianceStates } from '../../parts/compliance/compliance-looks';

/** Those in one state, or all; without it those that are out of sync. */
export type ShownDevices = ComplianceState | 'all';

export interface ShownSearch {
  readonly show?: ShownDevices;
}

export function parseShownSearch({ show }: Readonly<Record<string, unknown>>): ShownSearch {
  const known = (['all', ...complianceStates] as const).find((name) => name === show);
  return known === undefined ? {} : { show: known };
}
