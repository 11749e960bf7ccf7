/** The single conditions of a filter, and how each is removed from it. */
import { type DeviceConditions, type DeviceSearch, excludedBy, listIn } from './device-search';

export type PlainCondition = Exclude<keyof DeviceConditions, 'any' | 'not'>;

interface PlainPart {
  readonly name: PlainCondition;
  readonly value: unknown;
}

/** Each tag is a separate condition. */
export function plainPartsOf({ tags, ...others }: DeviceConditions): readonly PlainPart[] {
  const parts = Object.entries(others).flatMap(([name, value]) =>
    value === undefined || name === 'any' || name === 'not' ? [] : [{ name: name as PlainCondition, value }],
  );
  return [...parts, ...listIn(tags).map((tag) => ({ name: 'tags' as const, value: tag }))];
}

/** The change of a filter that removes one condition. */
export function withoutPart({ tags }: DeviceSearch, name: PlainCondition, value: unknown): Partial<DeviceSearch> {
  const others = name === 'tags' ? listIn(tags).filter((tag) => tag !== value) : [];
  return { [name]: others.length > 0 ? others : undefined };
}

/** The change of a filter that removes one of the excluded conditions. */
export function withoutExcluded(search: DeviceSearch, index: number): Partial<DeviceSearch> {
  const others = excludedBy(search).filter((_, at) => at !== index);
  return { not: others.length === 0 ? undefined : { any: others } };
}
