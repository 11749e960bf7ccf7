/** Filters with their groups written out. A group's own filter names no group, so one look is enough. */
import type { Queryable } from '../database/database.js';
import { isUuid } from '../database/uuid-v7.js';
import type { DeviceFilter, GroundFilter } from '../device-filter.js';
import { RegistryError } from '../registry-error.js';

/** Groups named in one filter: each brings its conditions into the statement. */
const GROUPS_IN_FILTER_MAX = 10;

/** Throws RegistryError ARGUMENT_INVALID for a group that is not there: without it `not` would mean every device. */
export async function groundFilter(db: Queryable, filter: DeviceFilter): Promise<GroundFilter> {
  const ids = groupIdsIn(filter);
  if (ids.length > GROUPS_IN_FILTER_MAX) {
    throw new RegistryError(
      'ARGUMENT_INVALID',
      `A device filter names at most ${String(GROUPS_IN_FILTER_MAX)} groups.`,
    );
  }
  const named = [...ids, ...narrowingGroupsIn(filter)];
  const rows =
    named.length === 0
      ? []
      : await db.query<{ readonly id: string; readonly filter: GroundFilter }>(
          { name: 'filters-of-groups', text: 'SELECT id, filter FROM device_group WHERE id = ANY($1::uuid[])' },
          [named.filter(isUuid)],
        );
  return written(filter, new Map(rows.map((row) => [row.id, row.filter])));
}

export function isGroundFilter(filter: DeviceFilter): filter is GroundFilter {
  return groupIdsIn(filter).length === 0;
}

/** As often as they are named by whoever asks. */
export function groupIdsIn({ groupId, any = [], not }: DeviceFilter): readonly string[] {
  return [
    ...(groupId === undefined ? [] : [groupId]),
    ...any.flatMap(groupIdsIn),
    ...(not === undefined ? [] : groupIdsIn(not)),
  ];
}

/** The ids of the groups that narrow a viewer, as far as they can be ids. */
export function groupsNarrowing(filter: DeviceFilter): readonly string[] {
  return narrowingGroupsIn(filter).filter(isUuid);
}

/** The groups of what narrows whoever asks. */
function narrowingGroupsIn({ within, any = [], not }: DeviceFilter): readonly string[] {
  const inner = [...any, ...(not === undefined ? [] : [not])].flatMap(narrowingGroupsIn);
  return within === undefined ? inner : [...groupIdsIn(within), ...narrowingGroupsIn(within), ...inner];
}

type Groups = ReadonlyMap<string, GroundFilter>;

const nobody: GroundFilter = { any: [] };

/** A group that is gone must not widen anything, also not behind a `not`: there is no device then. */
function writtenNarrowing(within: DeviceFilter, groups: Groups): GroundFilter {
  return groupIdsIn(within).every((id) => groups.has(id.toLowerCase())) ? written(within, groups) : nobody;
}

function written(filter: DeviceFilter, groups: Groups): GroundFilter {
  const { groupId, within, any, not, ...own } = filter;
  const bounds = [
    ...(groupId === undefined ? [] : [groupOf(groupId, groups)]),
    ...(within === undefined ? [] : [writtenNarrowing(within, groups)]),
  ];
  const [bound, ...more] = bounds;
  return {
    ...own,
    ...(bound === undefined
      ? {}
      : { within: more.reduce<GroundFilter>((inner, outer) => ({ any: [inner], within: outer }), bound) }),
    ...(any === undefined ? {} : { any: any.map((member) => written(member, groups)) }),
    ...(not === undefined ? {} : { not: written(not, groups) }),
  };
}

function groupOf(id: string, groups: Groups): GroundFilter {
  const filter = groups.get(id.toLowerCase());
  if (filter === undefined)
    throw new RegistryError('ARGUMENT_INVALID', `There is no device group ${JSON.stringify(id.slice(0, 100))}.`);
  return filter;
}
