/**
 * What a viewer with an access scope sees of the past: records of its devices from since they came
 * into the scope, as SQL conditions.
 */
import type { Queryable } from '../database/database.js';
import { bind } from '../database/sql-parameters.js';
import type { DeviceFilter } from '../device-filter.js';
import { deviceCondition } from '../devices/device-condition.js';
import { resolveFilter, groupsNarrowing } from '../groups/resolve-filter.js';
import type { JobScope } from '../jobs/job-scope.js';
import { historyAttributesOf, sinceSql } from './history-attributes.js';

/** A column with the time of a record, or with a UUIDv7 of that time. */
type RecordTime = { readonly uuid: string } | { readonly at: string };

/** `TRUE` without a scope. Never NULL. */
type HistoryScope = (deviceIdColumn: string, time: RecordTime, parameters: unknown[]) => string;

export async function historyScopeOf(db: Queryable, within: DeviceFilter | undefined): Promise<HistoryScope> {
  if (within === undefined) return () => 'TRUE';
  const scope = await scopeOf(db, within);
  return (column, time, parameters) => {
    const since = scope.since(parameters);
    if (since === undefined) return 'FALSE';
    const isInScope = scope.condition(parameters);
    return `EXISTS (SELECT FROM device d WHERE d.id = ${column} AND ${isInScope} AND ${isFrom(time, since)})`;
  };
}

/** A condition on `job_target t`. */
type TargetScope = (parameters: unknown[]) => string;

/**
 * A job shows the devices that were in the scope when it was created, because its arguments are of
 * that time. The viewer's own jobs show all devices of the scope.
 */
export async function targetScopeOf(db: Queryable, scope: JobScope | undefined): Promise<TargetScope> {
  if (scope === undefined) return () => 'TRUE';
  const devices = await scopeOf(db, scope.within);
  return (parameters) => {
    const since = devices.since(parameters);
    const isOwn = `(SELECT o.created_by_id FROM job o WHERE o.id = t.job_id) = ${bind(parameters, scope.creator)}`;
    const isVisible = since === undefined ? isOwn : `(${isFrom({ uuid: 't.job_id' }, since)} OR ${isOwn})`;
    const isInScope = devices.condition(parameters);
    return `EXISTS (SELECT FROM device d WHERE d.id = t.device_id AND ${isInScope} AND ${isVisible})`;
  };
}

/**
 * The start of the visible history of each device in the scope, ms since the Unix epoch. Infinity:
 * no history is visible.
 */
export async function historyStarts(
  db: Queryable,
  within: DeviceFilter,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (ids.length === 0) return new Map();
  const scope = await scopeOf(db, within);
  const parameters: unknown[] = [[...new Set(ids)]];
  const since = scope.since(parameters) ?? 'NULL::timestamptz';
  const isInScope = scope.condition(parameters);
  const rows = await db.query<{ readonly id: string; readonly since: Date | null }>(
    { text: `SELECT d.id, ${since} AS since FROM device d WHERE d.id = ANY ($1::text[]) AND ${isInScope}` },
    parameters,
  );
  return new Map(rows.map((row) => [row.id, row.since?.getTime() ?? Infinity]));
}

interface Scope {
  /** A condition on `device d`. */
  condition(parameters: unknown[]): string;
  /** The start of the visible history of `device d`; undefined if no history is visible. */
  since(parameters: unknown[]): string | undefined;
}

export async function scopeOf(db: Queryable, within: DeviceFilter): Promise<Scope> {
  const [resolved, filterSince] = await Promise.all([resolveFilter(db, { within }), groupsSince(db, within)]);
  const attributes = historyAttributesOf(resolved);
  return {
    condition: (parameters) => deviceCondition(resolved, parameters),
    since: (parameters) => {
      const since = sinceSql(attributes, parameters);
      if (since === undefined || filterSince === undefined) return since;
      return `greatest(${since}, ${bind(parameters, filterSince)}::timestamptz)`;
    },
  };
}

function isFrom(time: RecordTime, since: string): string {
  return 'uuid' in time ? `${time.uuid} >= uuid_from(${since})` : `${time.at} >= ${since}`;
}

/**
 * The latest change of the filters of the groups that the scope names; undefined without groups.
 */
async function groupsSince(db: Queryable, within: DeviceFilter): Promise<Date | undefined> {
  const ids = groupsNarrowing({ within });
  if (ids.length === 0) return undefined;
  const text = 'SELECT max(filter_since) AS since FROM device_group WHERE id = ANY ($1::uuid[])';
  const [row] = await db.query<{ readonly since: Date | null }>({ name: 'groups-since', text }, [ids]);
  return row?.since ?? undefined;
}
