import { Inject } from '@nestjs/common';
import { Query, Resolver } from '@nestjs/graphql';
import type { EventRow, Registry } from '@flotilla/registry';
import { LIMITS, REGISTRY } from '../api-deps.js';
import { pageRequest, toConnection, type Connection } from '../connection.js';
import { withoutNulls } from '../device-filter-input.js';
import type { QueryEventsArgs, QueryResolvers } from '../generated/schema-types.js';
import type { ApiLimits } from '../limits/api-limits.js';

/** What happened, in order. */
@Resolver()
export class EventResolver implements Required<Pick<QueryResolvers, 'events'>> {
  constructor(
    @Inject(REGISTRY) private readonly registry: Registry,
    @Inject(LIMITS) private readonly limits: ApiLimits,
  ) {}

  @Query()
  async events(_root: unknown, args: QueryEventsArgs): Promise<Connection<EventRow>> {
    const request = pageRequest(args, this.limits.pageRowsMax);
    return toConnection(await this.registry.events.page(withoutNulls(args.filter ?? {}), args.orderBy ?? 'AT_ASC', request));
  }
}
