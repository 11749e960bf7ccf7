/** The way back: which devices a roll-out brought to its image, and what they ran before. */
import type { JobId } from '@flotilla/mcp';
import type { Queryable } from '../../database/database.js';
import type { JobSight } from '../job-types.js';
import type { RevertGroup } from './rollout-types.js';
import { targetSightOf } from '../../access-scope/history-scope.js';
import { IS_ON_NEW_VERSION } from './on-new-version.js';

export async function readRevertGroups(db: Queryable, jobId: JobId, sight?: JobSight): Promise<readonly RevertGroup[]> {
  const parameters: unknown[] = [jobId];
  const isSeen = (await targetSightOf(db, sight))(parameters);
  const rows = await db.query<{ image_id: string | null; model: string | null; version: string; count: number }>(
    {
      text: `SELECT r.image_id, d.model, t.baseline_version AS version, count(*)::int AS count
       FROM job j JOIN firmware_image i ON i.id = j.firmware_image_id JOIN job_target t ON t.job_id = j.id JOIN device d ON d.id = t.device_id
       LEFT JOIN firmware_release r ON r.kind = i.kind AND r.model = d.model AND r.version = t.baseline_version
       WHERE j.id = $1 AND i.kind = 'FIRMWARE' AND ${IS_ON_NEW_VERSION} AND ${isSeen} GROUP BY 1, 2, 3 ORDER BY count(*) DESC, 3, 2`,
    },
    parameters,
  );
  return rows.map((row) => ({
    imageId: row.image_id ?? undefined,
    model: row.model ?? undefined,
    version: row.version,
    count: row.count,
  }));
}
