/**
 * Since when a device is certainly in the view of a key: the latest change of what the key's filter names. Membership follows from these values alone, so it has
 * not changed since. What changes all the time is not recorded, and a filter that names it shows no history. [docs/keys.md]
 */
import { bind } from '../database/sql-parameters.js';
import type { GroundFilter } from '../device-filter.js';

/** What a condition of a filter depends on. `never`: no change of it is recorded. `nested`: see the filters inside. */
type Dependence = 'fixed' | 'labels' | 'tags' | 'model' | 'traits' | 'never' | 'nested';

const dependences: Readonly<Record<keyof GroundFilter, Dependence>> = {
  ...{ all: 'fixed', ids: 'fixed', dialect: 'fixed', groupId: 'fixed' },
  ...{ tags: 'tags', search: 'labels', model: 'model' },
  ...{ firmwareVersion: 'traits', firmwareBefore: 'traits', hasTool: 'traits', transport: 'traits' },
  ...{ presence: 'never', toolsStale: 'never', lastSeenBefore: 'never', targetsOf: 'never', revertOf: 'never' },
  ...{ within: 'nested', any: 'nested', not: 'nested' },
};

export interface HistoryAttributes {
  /** Tags that the device must have: each knows since when it is there. */
  readonly tags: Set<string>;
  readonly columns: Set<'known_since' | 'labels_since' | 'model_since' | 'traits_since'>;
  /** False where a part of the filter changes without a trace. */
  hasHistory: boolean;
}

/** `filter` names no group: its groups are written out. */
export function historyAttributesOf(filter: GroundFilter): HistoryAttributes {
  const found: HistoryAttributes = { tags: new Set(), columns: new Set(['known_since']), hasHistory: true };
  collect(filter, found, true);
  return found;
}

/** `isRequired`: every device of the view fulfils this part. Of a tag that a device lacks, nothing says since when. */
function collect(filter: GroundFilter, found: HistoryAttributes, isRequired: boolean): void {
  for (const name of namesIn(filter)) {
    const dependence = dependences[name];
    if (dependence === 'never') found.hasHistory = false;
    else if (dependence === 'tags' && isRequired) for (const tag of filter.tags ?? []) found.tags.add(tag);
    else if (dependence === 'tags' || dependence === 'labels') found.columns.add('labels_since');
    else if (dependence === 'model' || dependence === 'traits') found.columns.add(`${dependence}_since`);
  }
  if (filter.within !== undefined) collect(filter.within, found, isRequired);
  for (const member of filter.any ?? []) collect(member, found, isRequired && filter.any?.length === 1);
  if (filter.not !== undefined) collect(filter.not, found, false);
}

function namesIn(filter: GroundFilter): readonly (keyof GroundFilter)[] {
  return Object.keys(dependences)
    .filter((name): name is keyof GroundFilter => Object.hasOwn(filter, name))
    .filter((name) => filter[name] !== undefined);
}

/** SQL of the moment from which on the history of `device d` is in the view; undefined where it has none. */
export function sinceSql({ tags, columns, hasHistory }: HistoryAttributes, parameters: unknown[]): string | undefined {
  if (!hasHistory) return undefined;
  const moments = [...columns].map((column) => `d.${column}`);
  if (tags.size > 0) {
    const named = `${bind(parameters, [...tags])}::text[]`;
    moments.push(`(SELECT max(s.since) FROM device_tag s WHERE s.device_id = d.id AND s.tag = ANY (${named}))`);
  }
  return moments.length === 1 ? moments[0] : `greatest(${moments.join(', ')})`;
}
