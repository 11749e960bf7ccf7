/**
 * Which devices of the list are selected: some of those that are loaded, or all that match the
 * filter but a few. Knows nothing of the page.
 */
import { excludedBy, type DeviceConditions, filterOf } from '../device-search';
import type { DeviceFilter } from '../generated/devices';

export interface DeviceSelection {
  /** `all`: everything that matches is selected, also what is not loaded. */
  readonly isAll: boolean;
  /** The selected ids; with `isAll` those that are not. */
  readonly ids: ReadonlySet<string>;
}

/** Ids that the hub takes in one filter. */
const idsMax = 1_000;

export const noDevices: DeviceSelection = { isAll: false, ids: new Set() };
export const allDevices: DeviceSelection = { isAll: true, ids: new Set() };

export function isSelected({ isAll, ids }: DeviceSelection, id: string): boolean {
  return ids.has(id) !== isAll;
}

/** Selects these devices, or takes them out of the selection. */
export function withDevices(
  selection: DeviceSelection,
  devices: readonly string[],
  areSelected: boolean,
): DeviceSelection {
  const ids = new Set(selection.ids);
  for (const id of devices) {
    if (areSelected === selection.isAll) ids.delete(id);
    else ids.add(id);
  }
  return { ...selection, ids };
}

/** The devices from one to another, both included, in the order of the list. */
export function rangeOf(listed: readonly string[], from: string | undefined, to: string): readonly string[] {
  const [start, end] = [from === undefined ? -1 : listed.indexOf(from), listed.indexOf(to)];
  if (start < 0 || end < 0) return [to];
  return listed.slice(Math.min(start, end), Math.max(start, end) + 1);
}

/** `matching`: how many devices match the filter. */
export function countOf({ isAll, ids }: DeviceSelection, matching: number): number {
  return isAll ? Math.max(0, matching - ids.size) : ids.size;
}

/** Whether a filter can say which devices these are. */
export function isWithinLimit({ ids }: DeviceSelection): boolean {
  return ids.size <= idsMax;
}

/** The selection as conditions. Undefined: the whole fleet. */
export function conditionsOfSelection(
  { isAll, ids }: DeviceSelection,
  conditions: DeviceConditions,
): DeviceConditions | undefined {
  if (!isAll) return { ids: [...ids] };
  if (ids.size === 0) return filterOf(conditions) === undefined ? undefined : conditions;
  return { ...conditions, not: { any: [...excludedBy(conditions), { ids: [...ids] }] } };
}

export function filterOfSelection(selection: DeviceSelection, conditions: DeviceConditions): DeviceFilter {
  return conditionsOfSelection(selection, conditions) ?? { all: true };
}
