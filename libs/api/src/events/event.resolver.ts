import { Inject } from '@nestjs/common';
import { Query, Resolver } from '@nestjs/graphql';
import type { ApiContext } from '../api-context.js';
import { LIMITS } from '../api-deps.js';
import { pageRequest, toConnection } from '../connection.js';
import type { QueryEventsArgs } from '../generated/schema-types.js';
import type { Serves } from '../serves.js';
import type { ApiLimits } from '../limits/api-limits.js';
import { parseEventFilter } from './event-filter-input.js';

/** What happened, in order. */
@Resolver()
export class EventResolver implements Serves<'Query', 'events'> {
  constructor(@Inject(LIMITS) private readonly limits: ApiLimits) {}

  @Query()
  async events(_root: unknown, args: QueryEventsArgs, { view }: ApiContext) {
    const request = pageRequest(args, this.limits.pageRowsMax);
    return toConnection(await view.events.page(parseEventFilter(args.filter), args.orderBy ?? 'AT_ASC', request));
  }
}
