/** A stored device filter as conditions that the filter bar can show and change. */
import { conditionsOf, type DeviceConditions, parseDeviceSearch } from './device-search';

/** Empty conditions are the whole fleet. Undefined if the filter bar would lose a part of it. */
export function conditionsIn(filter: unknown): DeviceConditions | undefined {
  if (typeof filter !== 'object' || filter === null) return undefined;
  const { all, ...others } = filter as Readonly<Record<string, unknown>>;
  if (all !== undefined && all !== null && all !== true) return undefined;
  const conditions = conditionsOf(parseDeviceSearch(others));
  return written(conditions) === written(others) ? conditions : undefined;
}

/** With sorted names and without empty members, so that equal filters have equal texts. */
function written(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    const entries = Object.entries(part).filter(([, member]) => member !== null && member !== undefined);
    return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}
