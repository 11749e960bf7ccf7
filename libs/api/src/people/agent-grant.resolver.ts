import { Inject } from '@nestjs/common';
import { Mutation, Query, ResolveField, Resolver } from '@nestjs/graphql';
import type { ListedGrant } from '@flotilla/registry';
import { actorOf, type ApiContext } from '../api-context.js';
import { GRANTS } from '../api-deps.js';
import { showDeviceFilter } from '../devices/device-filter-input.js';
import type { GrantOperations } from '../fleet-operations.js';
import type { MutationRevokeAgentGrantArgs } from '../generated/schema-types.js';
import type { Serves } from '../serves.js';

/** Agents that people connected over OAuth. */
@Resolver('AgentGrant')
export class AgentGrantResolver
  implements Serves<'Query', 'agentGrants'>, Serves<'Mutation', 'revokeAgentGrant'>, Serves<'AgentGrant', 'devices'>
{
  constructor(@Inject(GRANTS) private readonly grants: GrantOperations) {}

  @Query()
  agentGrants(_root: unknown, _args: unknown, { viewer }: ApiContext) {
    return this.grants.list(viewer);
  }

  @Mutation()
  async revokeAgentGrant(_root: unknown, { id }: MutationRevokeAgentGrantArgs, context: ApiContext) {
    const answer = await this.grants.revoke(id, context.viewer, actorOf(context));
    return 'refusal' in answer ? { userErrors: [answer.refusal] } : { revokedId: answer.grant.id, userErrors: [] };
  }

  @ResolveField()
  devices({ devices }: ListedGrant) {
    return devices && showDeviceFilter(devices);
  }
}
