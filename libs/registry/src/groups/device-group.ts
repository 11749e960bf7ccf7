import type { AuditSource } from '../audit/audit-entry.js';
import { plainRow } from '../database/plain-row.js';
import type { ResolvedFilter } from '../device-filter.js';
import type { DeviceGroup } from '../generated/prisma/client.js';

/** A saved filter: its members are the devices that match now. */
export interface DeviceGroupRow {
  readonly id: string;
  readonly name: string;
  /** Has a condition. */
  readonly filter: ResolvedFilter;
  /** IANA zone for the clocks of its devices without a zone. */
  readonly timeZone: string | undefined;
  /** Voice servers of its devices, in order of preference; empty: those of the device or hub. */
  readonly voiceUrls: readonly string[];
}

/** The result of a change. Only `saved` changed something. */
export type DeviceGroupAnswer =
  | { readonly kind: 'saved'; readonly group: DeviceGroupRow }
  /** FILTER_INVALID: PostgreSQL cannot evaluate the filter. */
  | { readonly kind: 'NOT_FOUND' | 'NAME_TAKEN' | 'FULL' | 'FILTER_INVALID' | 'OTHER_REVISION' };

/** With `by` the change is recorded in the audit trail. `at` is in ms since the Unix epoch. */
export interface GroupChange {
  readonly at: number;
  readonly by?: AuditSource;
}

export interface GroupUpdate extends GroupChange {
  /** Whether the stored group is still the one that the caller knows; any is if not given. */
  readonly isExpected?: ((stored: DeviceGroupRow) => boolean) | undefined;
}

/** The columns of a DeviceGroupRow. */
export const SHOWN = { id: true, name: true, filter: true, timeZone: true, voiceUrls: true } as const;

export function toGroup(record: Pick<DeviceGroup, keyof typeof SHOWN>): DeviceGroupRow {
  const { filter, ...row } = plainRow(record);
  return { ...row, filter: filter as ResolvedFilter };
}
