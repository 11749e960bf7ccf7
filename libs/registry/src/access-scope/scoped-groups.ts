/**
 * The groups that a viewer with an access scope sees: those that contain at least one of its
 * devices now.
 */
import type { Queryable } from '../database/database.js';
import type { DeviceFilter, ResolvedFilter } from '../device-filter.js';
import { deviceCondition } from '../devices/device-condition.js';
import { resolveFilter } from '../groups/resolve-filter.js';

/** Resolves to their ids. Checks all groups, because there are few. */
export async function scopedGroups(db: Queryable, devices: DeviceFilter): Promise<ReadonlySet<string>> {
  const groups = await db.query<{ readonly id: string; readonly filter: ResolvedFilter }>(
    { name: 'filters-of-all-groups', text: 'SELECT id, filter FROM device_group' },
    [],
  );
  if (groups.length === 0) return new Set();
  const within = await resolveFilter(db, { within: devices });
  const parameters: unknown[] = [];
  const own = `WITH own AS MATERIALIZED (SELECT d.* FROM device d WHERE ${deviceCondition(within, parameters)})`;
  const checks = groups.map(({ filter }) => `EXISTS (SELECT FROM own d WHERE ${deviceCondition(filter, parameters)})`);
  const [row] = await db.query<{ readonly visible: readonly boolean[] }>(
    { text: `${own} SELECT ARRAY[${checks.join(', ')}] AS visible` },
    parameters,
  );
  return new Set(groups.flatMap(({ id }, index) => (row?.visible[index] === true ? id : [])));
}
