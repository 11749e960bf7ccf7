/**
 * Time zones that groups give to their devices. Processes cache them, so changes of zones, names
 * and tags are noted. A device that joins a group for another reason gets the zone at the next
 * read.
 */
import type { Queryable } from '../database/database.js';
import { bind } from '../database/sql-parameters.js';
import type { ResolvedFilter } from '../device-filter.js';
import { deviceCondition } from '../devices/device-condition.js';
import { noteChange } from '../provisioning/credentials/issue-credentials.js';

export interface GroupZone {
  readonly filter: ResolvedFilter;
  readonly timeZone: string;
}

/** Noted in the place of a device where the zones of groups changed: no device has an empty id. */
export const GROUP_ZONES = '';

/** The first by name comes first, and counts where several match. */
export async function readGroupZones(db: Queryable): Promise<readonly GroupZone[]> {
  const rows = await db.query<{ readonly filter: ResolvedFilter; readonly time_zone: string }>(
    {
      name: 'zones-of-groups',
      text: 'SELECT filter, time_zone FROM device_group WHERE time_zone IS NOT NULL ORDER BY name',
    },
    [],
  );
  return rows.map(({ filter, time_zone: timeZone }) => ({ filter, timeZone }));
}

/** SQL of the zone of `device d`: its own, or what its groups say. */
export function zoneOfDevice(zones: readonly GroupZone[], parameters: unknown[]): string {
  if (zones.length === 0) return 'd.time_zone';
  const cases = zones.map(
    ({ filter, timeZone }) => `WHEN ${deviceCondition(filter, parameters)} THEN ${bind(parameters, timeZone)}::text`,
  );
  return `coalesce(d.time_zone, CASE ${cases.join(' ')} END)`;
}

/** Notes the devices whose zone the former or the new group may decide. Call it after the write. */
export async function noteGroupZones(
  transaction: Queryable,
  changed: readonly { readonly filter: ResolvedFilter; readonly timeZone: string | undefined }[],
): Promise<void> {
  const zoned = changed.filter(({ timeZone }) => timeZone !== undefined);
  if (zoned.length === 0) return;
  const parameters: unknown[] = [];
  const conditions = zoned.map(({ filter }) => deviceCondition(filter, parameters));
  const devices = await transaction.query<{ readonly id: string }>(
    { text: `SELECT d.id FROM device d WHERE d.time_zone IS NULL AND (${conditions.join(' OR ')})` },
    parameters,
  );
  await noteChange(transaction, [GROUP_ZONES, ...devices.map(({ id }) => id)]);
}

/** Records devices whose attributes in the filters of groups have changed. */
export async function noteGroupMembers(transaction: Queryable, deviceIds: readonly string[]): Promise<void> {
  if (deviceIds.length === 0) return;
  // A group that is being written now does not see this change, nor this transaction the group: one
  // waits for the other.
  await transaction.query({ text: 'LOCK TABLE device_group IN SHARE MODE' }, []);
  const [zoned] = await transaction.query({ text: 'SELECT FROM device_group WHERE time_zone IS NOT NULL LIMIT 1' }, []);
  if (zoned !== undefined) await noteChange(transaction, deviceIds);
}
