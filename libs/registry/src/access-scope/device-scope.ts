/** Turns the access scope of a viewer into an SQL condition on a column with device ids. */
import type { Queryable } from '../database/database.js';
import type { DeviceFilter } from '../device-filter.js';
import { deviceCondition } from '../devices/device-condition.js';
import { resolveFilter } from '../groups/resolve-filter.js';

type DeviceScope = (deviceIdColumn: string, parameters: unknown[]) => string;

/**
 * `TRUE` without a scope. Membership is evaluated when the statement runs; removed devices are in
 * no scope.
 */
export async function deviceScopeOf(db: Queryable, within: DeviceFilter | undefined): Promise<DeviceScope> {
  if (within === undefined) return () => 'TRUE';
  const resolved = await resolveFilter(db, { within });
  return (column, parameters) =>
    `${column} IN (SELECT d.id FROM device d WHERE ${deviceCondition(resolved, parameters)})`;
}
