/** Parses a filter of events: nulls mean "not given", and lists are limited. */
import type { EventFilter } from '@flotilla/registry';
import { withoutNulls } from '../devices/device-filter-input.js';
import { ApiError } from '../errors/api-error.js';
import type { EventFilter as EventFilterInput } from '../generated/schema-types.js';

/** More than there are types. Each subscriber compares each event with all of its patterns. */
const typesMax = 100;

/** Throws BAD_USER_INPUT where a list is too long. */
export function parseEventFilter(input: EventFilterInput | null | undefined): EventFilter {
  const filter = withoutNulls(input ?? {});
  for (const name of ['types', 'exceptTypes'] as const) {
    const count = filter[name]?.length ?? 0;
    if (count > typesMax)
      throw new ApiError('BAD_USER_INPUT', `"${name}" of an event filter takes at most ${typesMax}, but has ${count}.`);
  }
  return filter;
}
