/** Adds and removes tags on all devices of a filter with one statement. */
import type { DeviceId } from '@flotilla/mcp';
import type { Queryable } from '../database/database.js';
import { storableText } from '../database/json-rows.js';
import { bind } from '../database/sql-parameters.js';
import type { DeviceFilter } from '../device-filter.js';
import { resolveFilter } from '../groups/resolve-filter.js';
import { noteGroupMembers } from '../groups/group-zones.js';
import { deviceCondition } from './device-condition.js';

export interface TagChange {
  readonly add: readonly string[];
  readonly remove: readonly string[];
  /** Maximum number of tags per device. */
  readonly tagsMax: number;
}

/** The devices that changed, or one that would exceed `tagsMax`. */
export type TagResult =
  { readonly kind: 'changed'; readonly ids: readonly DeviceId[] } | { readonly kind: 'full'; readonly id: DeviceId };

/** Must run in a transaction. */
export async function tagDevices(
  database: Queryable,
  filter: DeviceFilter,
  { add, remove, tagsMax }: TagChange,
): Promise<TagResult> {
  const parameters: unknown[] = [sortedTags(add), sortedTags(remove)];
  const condition = deviceCondition(await resolveFilter(database, filter), parameters);
  const limit = bind(parameters, tagsMax);
  // Locks rows in the order of ids, like the statements of sessions, so that the two cannot
  // deadlock.
  const records = await database.query<{ readonly id: DeviceId; readonly is_full: boolean }>(
    {
      text: `WITH wanted AS MATERIALIZED (
               SELECT d.id, ARRAY(SELECT DISTINCT tag FROM unnest(d.tags || $1::text[]) AS tag
                                   WHERE tag <> ALL ($2::text[]) ORDER BY tag) AS tags
               FROM device d WHERE ${condition} ORDER BY d.id FOR UPDATE OF d
             ), full_ones AS (
               SELECT w.id FROM wanted w JOIN device d ON d.id = w.id
               WHERE cardinality(w.tags) > greatest(${limit}::int, cardinality(d.tags))
             ), changed AS (
               UPDATE device d SET tags = w.tags FROM wanted w
               WHERE d.id = w.id AND d.tags <> w.tags AND NOT EXISTS (SELECT FROM full_ones) RETURNING d.id)
             SELECT id, false AS is_full FROM changed UNION ALL SELECT id, true FROM full_ones`,
    },
    parameters,
  );
  const full = records.find((record) => record.is_full);
  if (full) return { kind: 'full', id: full.id };
  const ids = records.map(({ id }) => id);
  await noteGroupMembers(database, ids);
  return { kind: 'changed', ids };
}

export function sortedTags(tags: readonly string[]): string[] {
  return [...new Set(tags.map(storableText))].sort();
}
