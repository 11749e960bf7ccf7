/** What a narrowed viewer sees of the past: records of its devices from since they came into its view, as conditions of SQL. */
import type { Queryable } from '../database/database.js';
import { bind } from '../database/sql-parameters.js';
import type { DeviceFilter } from '../device-filter.js';
import { deviceCondition } from '../devices/device-condition.js';
import { groundFilter, groupsNarrowing } from '../groups/ground-filter.js';
import type { JobSight } from '../jobs/job-types.js';
import { historyAttributesOf, sinceSql } from './history-attributes.js';

/** A column with the time of a record, or with a UUIDv7 of that time. */
export type RecordTime = { readonly uuid: string } | { readonly at: string };

/** `TRUE` for a viewer that is not narrowed. Never NULL. */
export type HistorySight = (deviceIdColumn: string, time: RecordTime, parameters: unknown[]) => string;

export async function historySightOf(db: Queryable, within: DeviceFilter | undefined): Promise<HistorySight> {
  if (within === undefined) return () => 'TRUE';
  const view = await narrowingOf(db, within);
  return (column, time, parameters) => {
    const since = view.since(parameters);
    if (since === undefined) return 'FALSE';
    return `EXISTS (SELECT FROM device d WHERE d.id = ${column} AND ${view.condition(parameters)} AND ${isFrom(time, since)})`;
  };
}

/** Over `job_target t`. A job is seen with those devices that were in the view when it was made, because its arguments are of that time; own jobs with all. */
export type TargetSight = (parameters: unknown[]) => string;

export async function targetSightOf(db: Queryable, sight: JobSight | undefined): Promise<TargetSight> {
  if (sight === undefined) return () => 'TRUE';
  const view = await narrowingOf(db, sight.within);
  return (parameters) => {
    const since = view.since(parameters);
    const isOwn = `(SELECT o.created_by_id FROM job o WHERE o.id = t.job_id) = ${bind(parameters, sight.creator)}`;
    const isShown = since === undefined ? isOwn : `(${isFrom({ uuid: 't.job_id' }, since)} OR ${isOwn})`;
    return `EXISTS (SELECT FROM device d WHERE d.id = t.device_id AND ${view.condition(parameters)} AND ${isShown})`;
  };
}

/** For those of the devices that are in the view: from when on their history is, ms since the Unix epoch. Infinity: it never is. */
export async function historyStarts(
  db: Queryable,
  within: DeviceFilter,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (ids.length === 0) return new Map();
  const view = await narrowingOf(db, within);
  const parameters: unknown[] = [[...new Set(ids)]];
  const since = view.since(parameters) ?? 'NULL::timestamptz';
  const rows = await db.query<{ readonly id: string; readonly since: Date | null }>(
    {
      text: `SELECT d.id, ${since} AS since FROM device d WHERE d.id = ANY ($1::text[]) AND ${view.condition(parameters)}`,
    },
    parameters,
  );
  return new Map(rows.map((row) => [row.id, row.since?.getTime() ?? Infinity]));
}

export interface Narrowing {
  /** Over `device d`. */
  condition(parameters: unknown[]): string;
  /** The moment from which on the history of `device d` is seen; undefined where none is. */
  since(parameters: unknown[]): string | undefined;
}

export async function narrowingOf(db: Queryable, within: DeviceFilter): Promise<Narrowing> {
  const [ground, filterSince] = await Promise.all([groundFilter(db, { within }), groupsSince(db, within)]);
  const attributes = historyAttributesOf(ground);
  return {
    condition: (parameters) => deviceCondition(ground, parameters),
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

/** When the groups that narrow were last given another filter; undefined where there are none. */
async function groupsSince(db: Queryable, within: DeviceFilter): Promise<Date | undefined> {
  const ids = groupsNarrowing({ within });
  if (ids.length === 0) return undefined;
  const text = 'SELECT max(filter_since) AS since FROM device_group WHERE id = ANY ($1::uuid[])';
  const [row] = await db.query<{ readonly since: Date | null }>({ name: 'groups-since', text }, [ids]);
  return row?.since ?? undefined;
}
