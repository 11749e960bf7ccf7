/**
 * Since when a device is certainly in an access scope: since the latest change of an attribute that
 * the filter of the scope names. Changes of volatile attributes are not recorded, so a filter that
 * names one shows no history. [docs/keys.md]
 */
import { bind } from '../database/sql-parameters.js';
import type { ResolvedFilter } from '../device-filter.js';

/**
 * The attribute behind a condition. `never`: its changes are not recorded. `nested`: see the inner
 * filters.
 */
type Dependence = 'fixed' | 'labels' | 'tags' | 'model' | 'traits' | 'never' | 'nested';

const dependences: Readonly<Record<keyof ResolvedFilter, Dependence>> = {
  all: 'fixed',
  ids: 'fixed',
  dialect: 'fixed',
  groupId: 'fixed',
  tags: 'tags',
  search: 'labels',
  model: 'model',
  firmwareVersion: 'traits',
  firmwareBefore: 'traits',
  hasTool: 'traits',
  transport: 'traits',
  presence: 'never',
  toolsStale: 'never',
  outOfSync: 'never',
  lastSeenBefore: 'never',
  targetsOf: 'never',
  revertOf: 'never',
  within: 'nested',
  any: 'nested',
  not: 'nested',
};

interface HistoryAttributes {
  /** Tags that the device must have. Each is stored with the time when it was added. */
  readonly tags: Set<string>;
  readonly columns: Set<'known_since' | 'labels_since' | 'model_since' | 'traits_since'>;
  /** False if the filter names an attribute whose changes are not recorded. */
  hasHistory: boolean;
}

export function historyAttributesOf(filter: ResolvedFilter): HistoryAttributes {
  const found: HistoryAttributes = { tags: new Set(), columns: new Set(['known_since']), hasHistory: true };
  collect(filter, found, true);
  return found;
}

/** `isRequired`: every device of the scope matches this part. A missing tag has no time. */
function collect(filter: ResolvedFilter, found: HistoryAttributes, isRequired: boolean): void {
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

function namesIn(filter: ResolvedFilter): readonly (keyof ResolvedFilter)[] {
  return Object.keys(dependences)
    .filter((name): name is keyof ResolvedFilter => Object.hasOwn(filter, name))
    .filter((name) => filter[name] !== undefined);
}

/** SQL of the start of the visible history of `device d`; undefined if no history is visible. */
export function sinceSql({ tags, columns, hasHistory }: HistoryAttributes, parameters: unknown[]): string | undefined {
  if (!hasHistory) return undefined;
  const moments = [...columns].map((column) => `d.${column}`);
  if (tags.size > 0) {
    const named = `${bind(parameters, [...tags])}::text[]`;
    moments.push(`(SELECT max(s.since) FROM device_tag s WHERE s.device_id = d.id AND s.tag = ANY (${named}))`);
  }
  return moments.length === 1 ? moments[0] : `greatest(${moments.join(', ')})`;
}
