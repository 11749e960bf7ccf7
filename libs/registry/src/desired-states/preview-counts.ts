/** What is known of the devices of a planned desired state: tools and last values, counted. */
import type { DeviceId, ToolSetHash } from '@flotilla/mcp';
import type { Database } from '../database/database.js';
import type { DeviceFilter } from '../device-filter.js';
import { deviceCondition } from '../devices/device-condition.js';
import { resolveFilter } from '../groups/resolve-filter.js';

/** Devices with the same tools and the same last value; `isKnown` false: none was reported. */
export interface ValueCount {
  readonly toolSetHash: ToolSetHash | undefined;
  readonly isKnown: boolean;
  readonly value: unknown;
  readonly devices: number;
  /** Some of them. */
  readonly sample: readonly DeviceId[];
}

export interface ReadProperty {
  readonly tool: string;
  readonly path: string;
  readonly property: string;
}

interface CountRecord {
  readonly hash: ToolSetHash | null;
  readonly value: unknown;
  readonly is_known: boolean;
  readonly devices: number;
  readonly sample: readonly DeviceId[];
}

export async function countValues(
  db: Database,
  devices: DeviceFilter,
  { tool, path, property }: ReadProperty,
  sampleMax: number,
): Promise<readonly ValueCount[]> {
  const parameters: unknown[] = [tool, path.split('.'), property, sampleMax];
  const condition = deviceCondition(await resolveFilter(db, devices), parameters);
  const records = await db.query<CountRecord>(
    {
      text: `SELECT hash, value, value IS NOT NULL AS is_known, count(*)::int AS devices,
          (array_agg(id ORDER BY id))[1:$4::int] AS sample
        FROM (
          SELECT d.id, d.tool_set_hash AS hash, coalesce(d.reported_state -> $1::text #> $2::text[], (
            SELECT t.reported FROM desired_state_target t JOIN desired_state s ON s.id = t.desired_state_id
            WHERE t.device_id = d.id AND s.property = $3 AND t.reported_at IS NOT NULL
            ORDER BY t.reported_at DESC LIMIT 1)) AS value
          FROM device d WHERE ${condition}) AS reported
        GROUP BY hash, value`,
    },
    parameters,
  );
  return records.map(({ hash, value, is_known: isKnown, devices: count, sample }) => ({
    toolSetHash: hash ?? undefined,
    isKnown,
    value,
    devices: count,
    sample,
  }));
}

/** Whether one device matches both filters. */
export async function haveCommonDevice(db: Database, one: DeviceFilter, other: DeviceFilter): Promise<boolean> {
  const parameters: unknown[] = [];
  const conditions = [
    deviceCondition(await resolveFilter(db, one), parameters),
    deviceCondition(await resolveFilter(db, other), parameters),
  ];
  const rows = await db.query({ text: `SELECT FROM device d WHERE ${conditions.join(' AND ')} LIMIT 1` }, parameters);
  return rows.length > 0;
}
