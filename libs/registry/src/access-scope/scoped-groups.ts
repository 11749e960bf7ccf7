/** The groups that somebody sees who is narrowed: those that have one of their devices now. */
import type { Queryable } from '../database/database.js';
import type { DeviceFilter, GroundFilter } from '../device-filter.js';
import { deviceCondition } from '../devices/device-condition.js';
import { groundFilter } from '../groups/ground-filter.js';

/** Their ids. Groups are few, so all of them are looked at. */
export async function seenGroups(db: Queryable, devices: DeviceFilter): Promise<ReadonlySet<string>> {
  const groups = await db.query<{ readonly id: string; readonly filter: GroundFilter }>(
    { name: 'filters-of-all-groups', text: 'SELECT id, filter FROM device_group' },
    [],
  );
  if (groups.length === 0) return new Set();
  const within = await groundFilter(db, { within: devices });
  const parameters: unknown[] = [];
  const own = `WITH own AS MATERIALIZED (SELECT d.* FROM device d WHERE ${deviceCondition(within, parameters)})`;
  const looks = groups.map(({ filter }) => `EXISTS (SELECT FROM own d WHERE ${deviceCondition(filter, parameters)})`);
  const [row] = await db.query<{ readonly seen: readonly boolean[] }>(
    { text: `${own} SELECT ARRAY[${looks.join(', ')}] AS seen` },
    parameters,
  );
  return new Set(groups.flatMap(({ id }, index) => (row?.seen[index] === true ? id : [])));
}
