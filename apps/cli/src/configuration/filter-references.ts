/** Device filters in files name groups (`group: Lobby`), because ids differ between hubs. */
import type { DeviceFilter } from '@flotilla/client/schema';
import { UsageError } from '../exit-codes.js';
import { isFields, type References } from './kind.js';
import { mapped } from './values.js';

/** A group without a name here was deleted, and keeps its id. */
export function filterWithNames(filter: unknown, { groups }: Pick<References, 'groups'>): unknown {
  const names = new Map([...groups].map(([name, id]) => [id, name]));
  return mapped(filter, (value) => {
    if (!isFields(value)) return value;
    const { groupId, ...others } = value;
    const name = typeof groupId === 'string' ? names.get(groupId) : undefined;
    return name === undefined ? value : { ...others, group: name };
  });
}

/** Throws UsageError for a group that the hub does not have. */
export function filterWithIds(filter: unknown, { groups }: Pick<References, 'groups'>): DeviceFilter {
  return mapped(filter, (value) => {
    if (!isFields(value) || typeof value['group'] !== 'string') return value;
    const { group, ...others } = value;
    const groupId = groups.get(value['group']);
    if (groupId === undefined)
      throw new UsageError(`There is no device group "${String(group)}". Add it to the file as a DeviceGroup.`);
    return { ...others, groupId };
  }) as DeviceFilter;
}

/** JSON Schema of a filter; the hub checks its values. */
export const filterSchema = {
  type: 'object',
  description: 'A DeviceFilter of the API, with `group: <name>` in place of `groupId`.',
} as const;
