/** Parses a device filter: nulls mean "not given", and nesting and lists are limited. */
import { inlineIdsMax } from '@flotilla/jobs';
import type { DeviceFilter } from '@flotilla/registry';
import { ApiError } from '../errors/api-error.js';
import type { DeviceFilter as DeviceFilterInput } from '../generated/schema-types.js';

/** Each level of `any` and `not` is a level of SQL. */
const filterDepthMax = 5;
/** Tags, and alternatives of `any`. */
const filterListMax = 50;
/** With all alternatives on all levels. Each is a condition of one SQL statement. */
const filtersMax = 1_000;

type Mutable<Value> = { -readonly [Member in keyof Value]: Value[Member] };

/** Undefined where nothing was given at all. BAD_USER_INPUT where it is too deep or too long. */
export function parseDeviceFilter(input: DeviceFilterInput | null | undefined): DeviceFilter | undefined {
  if (input === null || input === undefined) return undefined;
  const filter = parseLevel(input, 1);
  const count = filtersIn(filter);
  if (count > filtersMax)
    throw new ApiError(
      'BAD_USER_INPUT',
      `A device filter has at most ${filtersMax} filters in "any" and "not" of all levels, but this one has ${count}.`,
    );
  return filter;
}

/** Those in `any` and `not`, on all levels. */
function filtersIn({ any = [], not }: DeviceFilter): number {
  return [...any, ...(not ? [not] : [])].reduce((count, inner) => count + 1 + filtersIn(inner), 0);
}

function parseLevel(input: DeviceFilterInput, depth: number): DeviceFilter {
  if (depth > filterDepthMax)
    throw new ApiError('BAD_USER_INPUT', `A device filter nests at most ${filterDepthMax} levels.`);
  const { all, any, not, ids, tags, ...plain } = input;
  const filter: Mutable<DeviceFilter> = withoutNulls(plain);
  // A text without a number would match no device, which looks like an up-to-date fleet.
  if (filter.firmwareBefore !== undefined && !/\d/.test(filter.firmwareBefore))
    throw new ApiError(
      'BAD_USER_INPUT',
      `"firmwareBefore" is a version of numbers with dots, such as 2.0.3, not "${filter.firmwareBefore.slice(0, 80)}".`,
    );
  if (all) filter.all = true;
  if (ids) filter.ids = atMost(ids, inlineIdsMax, 'ids');
  if (tags) filter.tags = atMost(tags, filterListMax, 'tags');
  if (any) filter.any = atMost(any, filterListMax, 'any').map((alternative) => parseLevel(alternative, depth + 1));
  if (not) filter.not = parseLevel(not, depth + 1);
  return filter;
}

function atMost<Item>(items: readonly Item[], max: number, name: string): readonly Item[] {
  if (items.length > max)
    throw new ApiError('BAD_USER_INPUT', `"${name}" of a device filter takes at most ${max}, but has ${items.length}.`);
  return items;
}

type WithoutNulls<Value> = { readonly [Member in keyof Value]?: NonNullable<Value[Member]> };

/** The members that were given. A GraphQL null means the same as a member left out. */
export function withoutNulls<Value extends object>(value: Value): WithoutNulls<Value> {
  return Object.fromEntries(
    Object.entries(value).filter(([, member]) => member !== null && member !== undefined),
  ) as WithoutNulls<Value>;
}

/** A filter as its caller wrote it, to be read and given again. */
export function showDeviceFilter({
  any,
  not,
  lastSeenBefore,
  ...own
}: DeviceFilter): Readonly<Record<string, unknown>> {
  return {
    ...own,
    ...(lastSeenBefore === undefined ? {} : { lastSeenBefore: new Date(lastSeenBefore).toISOString() }),
    ...(any === undefined ? {} : { any: any.map(showDeviceFilter) }),
    ...(not === undefined ? {} : { not: showDeviceFilter(not) }),
  };
}
