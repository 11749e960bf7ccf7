/**
 * Resolves the groups of a filter. The filter of a group names no group, so one query is enough.
 */
import type { Queryable } from '../database/database.js';
import { bind } from '../database/sql-parameters.js';
import { isUuid } from '../database/uuid-v7.js';
import type { DeviceFilter, ResolvedFilter } from '../device-filter.js';
import { deviceCondition } from '../devices/device-condition.js';
import { RegistryError } from '../registry-error.js';

/** Groups named in one filter: each brings its conditions into the statement. */
const GROUPS_IN_FILTER_MAX = 10;

/**
 * Replaces groups by their filters. Throws RegistryError ARGUMENT_INVALID for an unknown group:
 * without it `not` would match all devices.
 */
export async function resolveFilter(db: Queryable, filter: DeviceFilter): Promise<ResolvedFilter> {
  const ids = groupIdsIn(filter);
  if (ids.length > GROUPS_IN_FILTER_MAX) {
    throw new RegistryError(
      'ARGUMENT_INVALID',
      `A device filter names at most ${String(GROUPS_IN_FILTER_MAX)} groups.`,
    );
  }
  const named = [...ids, ...scopeGroupsIn(filter)];
  const rows =
    named.length === 0
      ? []
      : await db.query<{ readonly id: string; readonly filter: ResolvedFilter }>(
          { name: 'filters-of-groups', text: 'SELECT id, filter FROM device_group WHERE id = ANY($1::uuid[])' },
          [named.filter(isUuid)],
        );
  return resolved(filter, new Map(rows.map((row) => [row.id, row.filter])));
}

/** Whether PostgreSQL can evaluate the filter, found out by a query. */
export async function canAnswer(db: Queryable, filter: ResolvedFilter): Promise<boolean> {
  const parameters: unknown[] = [];
  const condition = deviceCondition(filter, parameters);
  try {
    await db.query({ text: `SELECT FROM device d WHERE ${condition} LIMIT ${bind(parameters, 1)}` }, parameters);
    return true;
  } catch (error) {
    if (error instanceof RegistryError && error.code === 'DATABASE_REFUSED') return false;
    throw error;
  }
}

export function isResolvedFilter(filter: DeviceFilter): filter is ResolvedFilter {
  return groupIdsIn(filter).length === 0;
}

/** The groups that a caller names, as often as the filter names them. */
export function groupIdsIn({ groupId, any = [], not }: DeviceFilter): readonly string[] {
  return [
    ...(groupId === undefined ? [] : [groupId]),
    ...any.flatMap(groupIdsIn),
    ...(not === undefined ? [] : groupIdsIn(not)),
  ];
}

/** The ids of the groups that limit a viewer, without those that are not UUIDs. */
export function groupsNarrowing(filter: DeviceFilter): readonly string[] {
  return scopeGroupsIn(filter).filter(isUuid);
}

/** The groups that limit the caller. */
function scopeGroupsIn({ within, any = [], not }: DeviceFilter): readonly string[] {
  const inner = [...any, ...(not === undefined ? [] : [not])].flatMap(scopeGroupsIn);
  return within === undefined ? inner : [...groupIdsIn(within), ...scopeGroupsIn(within), ...inner];
}

type Groups = ReadonlyMap<string, ResolvedFilter>;

const noDevice: ResolvedFilter = { any: [] };

/** A removed group must not widen a filter, not even behind a `not`: then no device matches. */
function resolvedScope(within: DeviceFilter, groups: Groups): ResolvedFilter {
  return groupIdsIn(within).every((id) => groups.has(id.toLowerCase())) ? resolved(within, groups) : noDevice;
}

function resolved(filter: DeviceFilter, groups: Groups): ResolvedFilter {
  const { groupId, within, any, not, ...own } = filter;
  const bounds = [
    ...(groupId === undefined ? [] : [groupOf(groupId, groups)]),
    ...(within === undefined ? [] : [resolvedScope(within, groups)]),
  ];
  const [bound, ...more] = bounds;
  return {
    ...own,
    ...(bound === undefined
      ? {}
      : { within: more.reduce<ResolvedFilter>((inner, outer) => ({ any: [inner], within: outer }), bound) }),
    ...(any === undefined ? {} : { any: any.map((member) => resolved(member, groups)) }),
    ...(not === undefined ? {} : { not: resolved(not, groups) }),
  };
}

function groupOf(id: string, groups: Groups): ResolvedFilter {
  const filter = groups.get(id.toLowerCase());
  if (filter === undefined)
    throw new RegistryError('ARGUMENT_INVALID', `There is no device group ${JSON.stringify(id.slice(0, 100))}.`);
  return filter;
}
