/** Whom an image would not fit, before anything is made. */
import type { Queryable } from '../../database/database.js';
import type { DeviceFilter } from '../../device-filter.js';
import { deviceCondition } from '../../devices/device-condition.js';
import { groundFilter } from '../../groups/ground-filter.js';
import type { ObjectionGroup } from './rollout-types.js';
import { imageObjection, objectionMessage } from './image-incompatibility.js';

/** Most devices first; messages name the board. */
export async function countObjections(
  db: Queryable,
  imageId: string,
  devices: DeviceFilter,
): Promise<readonly ObjectionGroup[]> {
  const parameters: unknown[] = [imageId];
  const condition = deviceCondition(await groundFilter(db, devices), parameters);
  return db.query<ObjectionGroup>(
    {
      text: `SELECT message, count(*)::int AS "deviceCount" FROM (
         SELECT ${objectionMessage('o.objection')} AS message FROM device d JOIN firmware_image i ON i.id = $1
         CROSS JOIN LATERAL (SELECT ${imageObjection(false)} AS objection) AS o WHERE o.objection IS NOT NULL AND ${condition}) AS judged
       GROUP BY message ORDER BY count(*) DESC, message`,
    },
    parameters,
  );
}
