import { Inject } from '@nestjs/common';
import { Query, Resolver } from '@nestjs/graphql';
import type { AuditEntryRow } from '@flotilla/registry';
import { LIMITS, REGISTRY, type FleetWideStores } from '../api-deps.js';
import { pageRequest, toConnection, type Connection } from '../connection.js';
import { withoutNulls } from '../devices/device-filter-input.js';
import type { QueryAuditEntriesArgs, QueryResolvers } from '../generated/schema-types.js';
import type { ApiLimits } from '../limits/api-limits.js';

/** Who changed what. */
@Resolver()
export class AuditResolver implements Required<Pick<QueryResolvers, 'auditEntries'>> {
  constructor(
    @Inject(REGISTRY) private readonly registry: FleetWideStores,
    @Inject(LIMITS) private readonly limits: ApiLimits,
  ) {}

  @Query()
  async auditEntries(_root: unknown, args: QueryAuditEntriesArgs): Promise<Connection<AuditEntryRow>> {
    const request = pageRequest(args, this.limits.pageRowsMax);
    return toConnection(await this.registry.audit.page(withoutNulls(args.filter ?? {}), request));
  }
}
