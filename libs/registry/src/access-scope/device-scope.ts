/** What somebody sees whose key is narrowed, as a condition of SQL: the one place where a narrowing becomes one. */
import type { Queryable } from '../database/database.js';
import type { DeviceFilter, GroundFilter } from '../device-filter.js';
import { deviceCondition } from '../devices/device-condition.js';
import { groundFilter } from '../groups/ground-filter.js';

/** Whose devices: `TRUE` for somebody who is not narrowed. */
export type Sight = (deviceIdColumn: string, parameters: unknown[]) => string;

/** Membership is looked at when the statement runs. A device that is gone is seen by nobody who is narrowed. */
export async function sightOf(db: Queryable, within: DeviceFilter | undefined): Promise<Sight> {
  if (within === undefined) return () => 'TRUE';
  const ground: GroundFilter = await groundFilter(db, { within });
  return (column, parameters) =>
    `${column} IN (SELECT d.id FROM device d WHERE ${deviceCondition(ground, parameters)})`;
}
