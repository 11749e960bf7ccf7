/** The tool sets that devices had, newest first, each with its changes against the previous one. */
import type { ToolSetHash } from '@flotilla/mcp';
import type { Database } from '../database/database.js';
import { grouped } from '../database/grouped.js';
import { SEEN_AT } from '../devices/device-condition.js';
import type { ToolSet } from './tool-set.js';
import type { ToolSetStore } from './tool-set-store.js';

/** A tool set that a device had. Times are ms since the Unix epoch. */
export interface ToolSetUseRow {
  readonly hash: ToolSetHash;
  readonly firmwareVersion: string | undefined;
  readonly firstSeenAt: number;
  readonly lastSeenAt: number;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

interface UseRecord {
  readonly device_id: string;
  readonly tool_set_hash: ToolSetHash;
  readonly firmware_version: string;
  readonly first_seen_at: Date;
  readonly last_seen_at: Date;
}

export async function toolSetHistory(
  database: Database,
  toolSets: Pick<ToolSetStore, 'getMany'>,
  deviceIds: readonly string[],
  { first, starts }: { readonly first: number; readonly starts: readonly number[] | undefined },
): Promise<readonly (readonly ToolSetUseRow[])[]> {
  const isBounded = starts !== undefined;
  const wanted = isBounded ? 'unnest($1::text[], $3::timestamptz[]) AS w(id, since)' : 'unnest($1::text[]) AS w(id)';
  // The current tool set was last seen when the device was.
  const uses = await database.query<UseRecord>(
    {
      text: `SELECT u.* FROM ${wanted} CROSS JOIN LATERAL (
               SELECT u.device_id, u.tool_set_hash, u.firmware_version, u.first_seen_at,
                 CASE WHEN u.tool_set_hash = d.tool_set_hash AND u.firmware_version = coalesce(d.firmware_version, '')
                   THEN greatest(u.last_seen_at, ${SEEN_AT}) ELSE u.last_seen_at END AS last_seen_at
               FROM tool_set_use u JOIN device d ON d.id = u.device_id
               WHERE u.device_id = w.id ${isBounded ? 'AND u.first_seen_at >= w.since' : ''}
               ORDER BY u.last_seen_at DESC, u.first_seen_at DESC LIMIT $2) u
             ORDER BY u.device_id, u.last_seen_at DESC, u.first_seen_at DESC`,
    },
    [deviceIds, first + 1, ...(isBounded ? [starts.map((at) => new Date(at))] : [])],
  );
  const sets = await toolSets.getMany(uses.map((use) => use.tool_set_hash));
  return grouped(deviceIds, uses, (use) => use.device_id).map((own) => historyOf(own, sets, first));
}

/** `uses` has one row more than the result: the last result is compared with it. */
function historyOf(
  uses: readonly UseRecord[],
  sets: ReadonlyMap<ToolSetHash, ToolSet>,
  first: number,
): readonly ToolSetUseRow[] {
  return uses.slice(0, first).map((use, index) => {
    const before = uses[index + 1];
    return {
      hash: use.tool_set_hash,
      firmwareVersion: use.firmware_version === '' ? undefined : use.firmware_version,
      firstSeenAt: use.first_seen_at.getTime(),
      lastSeenAt: use.last_seen_at.getTime(),
      ...difference(before && sets.get(before.tool_set_hash), sets.get(use.tool_set_hash)),
    };
  });
}

/** The first set of a device has no changes, because there is no earlier one. */
function difference(
  before: ToolSet | undefined,
  after: ToolSet | undefined,
): Pick<ToolSetUseRow, 'added' | 'removed' | 'changed'> {
  if (before === undefined || after === undefined) return { added: [], removed: [], changed: [] };
  const old = new Map(before.tools.map((tool) => [tool.name, tool]));
  const names = new Set(after.tools.map((tool) => tool.name));
  return {
    added: after.tools.filter((tool) => !old.has(tool.name)).map((tool) => tool.name),
    removed: before.tools.filter((tool) => !names.has(tool.name)).map((tool) => tool.name),
    changed: after.tools
      .filter((tool) => old.has(tool.name) && JSON.stringify(old.get(tool.name)) !== JSON.stringify(tool))
      .map((tool) => tool.name),
  };
}
