/** A filter as a viewer sees it: ids of devices outside of its scope are left out. */
import type { DeviceFilter, ResolvedFilter } from '../device-filter.js';

export function filterIdsIn({ ids = [], within, any = [], not }: DeviceFilter): readonly string[] {
  return [...ids, ...[within, not, ...any].flatMap((inner) => (inner === undefined ? [] : filterIdsIn(inner)))];
}

export function withIdsOf(filter: ResolvedFilter, own: ReadonlySet<string>): ResolvedFilter;
export function withIdsOf(filter: DeviceFilter, own: ReadonlySet<string>): DeviceFilter;
export function withIdsOf(filter: DeviceFilter, own: ReadonlySet<string>): DeviceFilter {
  const { ids, within, any, not, ...rest } = filter;
  return {
    ...rest,
    ...(ids === undefined ? {} : { ids: ids.filter((id) => own.has(id)) }),
    ...(within === undefined ? {} : { within: withIdsOf(within, own) }),
    ...(any === undefined ? {} : { any: any.map((inner) => withIdsOf(inner, own)) }),
    ...(not === undefined ? {} : { not: withIdsOf(not, own) }),
  };
}
