import { Inject } from '@nestjs/common';
import { Mutation, Query, Resolver } from '@nestjs/graphql';
import { actorOf, type ApiContext } from '../api-context.js';
import { FLEET, REGISTRY, type FleetWideStores } from '../api-deps.js';
import { pageRequest, toConnection } from '../connection.js';
import { userErrors } from '../errors/user-errors.js';
import type { FleetOperations } from '../fleet-operations.js';
import type {
  MutationRecordAppliedConfigurationArgs,
  QueryAppliedConfigurationsArgs,
} from '../generated/schema-types.js';
import type { Serves } from '../serves.js';

/** What the command line wrote from files. */
@Resolver('AppliedConfiguration')
export class AppliedConfigurationResolver
  implements Serves<'Query', 'appliedConfigurations'>, Serves<'Mutation', 'recordAppliedConfiguration'>
{
  constructor(
    @Inject(REGISTRY) private readonly registry: FleetWideStores,
    @Inject(FLEET) private readonly fleet: FleetOperations,
  ) {}

  @Query()
  async appliedConfigurations(_root: unknown, args: QueryAppliedConfigurationsArgs) {
    return toConnection(await this.registry.appliedConfigurations.page(pageRequest(args)));
  }

  @Mutation()
  async recordAppliedConfiguration(
    _root: unknown,
    { input }: MutationRecordAppliedConfigurationArgs,
    context: ApiContext,
  ) {
    const entries = input.map(({ kind, name, fields, revision }) => ({
      kind,
      name,
      fields: fields as unknown,
      revision: revision ?? undefined,
    }));
    const { rows, refusal } = await this.fleet.recordApplied(entries, actorOf(context));
    return { appliedConfigurations: rows, userErrors: userErrors(refusal) };
  }
}
