import { Inject } from '@nestjs/common';
import { Query, Resolver } from '@nestjs/graphql';
import type { EventRow } from '@flotilla/registry';
import type { ApiContext } from '../api-context.js';
import { LIMITS } from '../api-deps.js';
import { pageRequest, toConnection, type Connection } from '../connection.js';
import type { QueryEventsArgs, QueryResolvers } from '../generated/schema-types.js';
import type { ApiLimits } from '../limits/api-limits.js';
import { parseEventFilter } from './event-filter-input.js';

/** What happened, in order. */
@Resolver()
export class EventResolver implements Required<Pick<QueryResolvers, 'events'>> {
  constructor(@Inject(LIMITS) private readonly limits: ApiLimits) {}

  @Query()
  async events(_root: unknown, args: QueryEventsArgs, { view }: ApiContext): Promise<Connection<EventRow>> {
    const request = pageRequest(args, this.limits.pageRowsMax);
    return toConnection(await view.events.page(parseEventFilter(args.filter), args.orderBy ?? 'AT_ASC', request));
  }
}
