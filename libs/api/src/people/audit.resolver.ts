import { Inject } from '@nestjs/common';
import { Query, Resolver } from '@nestjs/graphql';
import { REGISTRY, type FleetWideStores } from '../api-deps.js';
import { pageRequest, toConnection } from '../connection.js';
import { withoutNulls } from '../devices/device-filter-input.js';
import type { QueryAuditEntriesArgs } from '../generated/schema-types.js';
import type { Serves } from '../serves.js';

/** Who changed what. */
@Resolver()
export class AuditResolver implements Serves<'Query', 'auditEntries'> {
  constructor(@Inject(REGISTRY) private readonly registry: FleetWideStores) {}

  @Query()
  async auditEntries(_root: unknown, args: QueryAuditEntriesArgs) {
    return toConnection(await this.registry.audit.page(withoutNulls(args.filter ?? {}), pageRequest(args)));
  }
}
