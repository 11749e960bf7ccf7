import { Query, Resolver } from '@nestjs/graphql';
import type { ApiContext } from '../api-context.js';
import { pageRequest, toConnection } from '../connection.js';
import type { QueryEventsArgs } from '../generated/schema-types.js';
import type { Serves } from '../serves.js';
import { parseEventFilter } from './event-filter-input.js';

/** What happened, in order. */
@Resolver()
export class EventResolver implements Serves<'Query', 'events'> {
  @Query()
  async events(_root: unknown, args: QueryEventsArgs, { view }: ApiContext) {
    const request = pageRequest(args);
    return toConnection(await view.events.page(parseEventFilter(args.filter), args.orderBy ?? 'AT_ASC', request));
  }
}
