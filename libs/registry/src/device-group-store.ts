import type { AuditSource } from './audit/audit-entry.js';
import type { DeviceFilter, GroundFilter } from './device-filter.js';
import type { Page, PageRequest } from './page.js';

/** A saved filter: its members are whoever matches now. */
export interface DeviceGroupRow {
  readonly id: string;
  readonly name: string;
  /** Has a condition. */
  readonly filter: GroundFilter;
  /** IANA zone of its devices' clocks, for those that have none of their own. */
  readonly timeZone: string | undefined;
  /** Voice servers for its devices' conversations, in order of preference; empty: the device's or the hub's. */
  readonly voiceUrls: readonly string[];
}

/** What became of a change; what is not `saved` changed nothing. FILTER_INVALID: PostgreSQL cannot answer the filter. */
export type DeviceGroupAnswer =
  | { readonly kind: 'saved'; readonly group: DeviceGroupRow }
  | { readonly kind: 'NOT_FOUND' | 'NAME_TAKEN' | 'FULL' | 'FILTER_INVALID' };

/** Acts of people are given `by`, and are recorded in the audit trail in their own transaction. `at` is in ms since the Unix epoch. */
export interface DeviceGroupStore {
  /** FULL where it would be one more than `groupsMax`. */
  create(
    group: Omit<DeviceGroupRow, 'id'>,
    how: { readonly groupsMax: number; readonly at: number; readonly by?: AuditSource },
  ): Promise<DeviceGroupAnswer>;
  /** Replaces all of it but the id. */
  update(group: DeviceGroupRow, how: { readonly at: number; readonly by?: AuditSource }): Promise<DeviceGroupAnswer>;
  /** False where there is no such group. */
  remove(id: string, how: { readonly at: number; readonly by?: AuditSource }): Promise<boolean>;
  /** In the order of the input; undefined where there is no such group. */
  findMany(ids: readonly string[]): Promise<readonly (DeviceGroupRow | undefined)[]>;
  /** By name; among these where ids are given. */
  page(page: PageRequest, ids?: readonly string[]): Promise<Page<DeviceGroupRow>>;
  /** How many devices match now, exactly, in the order of the input; of those of `within` where it is given. */
  deviceCounts(groups: readonly DeviceGroupRow[], within?: DeviceFilter): Promise<readonly number[]>;
  /** The voice servers of a device: its own, or those of the first by name of its groups that has some. */
  voiceUrlsOf(deviceId: string): Promise<readonly string[]>;
  /** The groups that each device is in now, by name, in the order of the input. */
  groupsOf(deviceIds: readonly string[]): Promise<readonly (readonly DeviceGroupRow[])[]>;
}
