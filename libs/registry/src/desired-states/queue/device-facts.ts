/** What the worker knows of devices: presence, tools, reported values, and which filters match. */
import type { DeviceId, HubProcessId, ToolSetHash } from '@flotilla/mcp';
import type { Queryable } from '../../database/database.js';
import { bind } from '../../database/sql-parameters.js';
import type { ResolvedFilter } from '../../device-filter.js';
import { deviceCondition, IS_ONLINE } from '../../devices/device-condition.js';
import { readGroupZones, zoneOfDevice } from '../../groups/group-zones.js';

export interface DeviceFacts {
  readonly deviceId: DeviceId;
  readonly isOnline: boolean;
  readonly epoch: number;
  readonly gatewayId: HubProcessId | undefined;
  readonly toolSetHash: ToolSetHash | undefined;
  /** IANA name: its own, or that of a group; undefined: that of the hub. */
  readonly timeZone: string | undefined;
  /** By the place of the read tool in the question; undefined where it has reported none. */
  readonly reported: readonly unknown[];
  readonly reportedAt: number | undefined;
  /** By the place of the filter in the question. */
  readonly matches: readonly boolean[];
}

export interface FactsQuestion {
  readonly readTools: readonly string[];
  readonly filters: readonly ResolvedFilter[];
}

interface FactsRecord {
  readonly id: DeviceId;
  readonly is_online: boolean;
  readonly epoch: number;
  readonly gateway_id: HubProcessId | null;
  readonly tool_set_hash: ToolSetHash | null;
  readonly zone: string | null;
  readonly reported: readonly unknown[];
  readonly reported_state_at: Date | null;
  readonly matches: readonly (boolean | null)[];
}

/** Devices that were removed are not in the answer. */
export async function readFacts(
  db: Queryable,
  deviceIds: readonly DeviceId[],
  { readTools, filters }: FactsQuestion,
): Promise<readonly DeviceFacts[]> {
  const zones = await readGroupZones(db);
  const parameters: unknown[] = [deviceIds];
  const reported = readTools.map((tool) => `d.reported_state -> ${bind(parameters, tool)}::text`);
  const matches = filters.map((filter) => `${deviceCondition(filter, parameters)} IS TRUE`);
  const records = await db.query<FactsRecord>(
    {
      text: `SELECT d.id, ${IS_ONLINE} AS is_online, d.epoch, d.gateway_id, d.tool_set_hash,
          ${zoneOfDevice(zones, parameters)} AS zone, jsonb_build_array(${reported.join(', ')}) AS reported,
          d.reported_state_at, ARRAY[${matches.join(', ')}]::boolean[] AS matches
        FROM device d WHERE d.id = ANY ($1::text[])`,
    },
    parameters,
  );
  return records.map((record) => ({
    deviceId: record.id,
    isOnline: record.is_online,
    epoch: record.epoch,
    gatewayId: record.gateway_id ?? undefined,
    toolSetHash: record.tool_set_hash ?? undefined,
    timeZone: record.zone ?? undefined,
    reported: record.reported,
    reportedAt: record.reported_state_at?.getTime(),
    matches: record.matches.map((isMatch) => isMatch === true),
  }));
}

/** Devices after `after`, in the order of ids, that match the filter or have an entry. */
export async function pageOfCovered(
  db: Queryable,
  { id, filter }: { readonly id: string; readonly filter: ResolvedFilter },
  after: string,
  limit: number,
): Promise<readonly DeviceId[]> {
  const parameters: unknown[] = [id, after, limit];
  const condition = deviceCondition(filter, parameters);
  const rows = await db.query<{ readonly id: DeviceId }>(
    {
      text: `SELECT id FROM (
          (SELECT d.id FROM device d WHERE d.id > $2 AND ${condition} ORDER BY d.id LIMIT $3)
          UNION
          (SELECT t.device_id FROM desired_state_target t
           WHERE t.desired_state_id = $1 AND t.device_id > $2 ORDER BY t.device_id LIMIT $3)) AS covered
        ORDER BY id LIMIT $3`,
    },
    parameters,
  );
  return rows.map((row) => row.id);
}
