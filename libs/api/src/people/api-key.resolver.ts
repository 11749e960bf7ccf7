import { Inject } from '@nestjs/common';
import { Mutation, Query, ResolveField, Resolver } from '@nestjs/graphql';
import type { ApiKeyRow } from '@flotilla/registry';
import { actorOf, type ApiContext } from '../api-context.js';
import { FLEET, REGISTRY, type FleetWideStores } from '../api-deps.js';
import { parseDeviceFilter, showDeviceFilter } from '../devices/device-filter-input.js';
import type { FleetOperations } from '../fleet-operations.js';
import type { MutationCreateApiKeyArgs, MutationRevokeApiKeyArgs } from '../generated/schema-types.js';
import type { Serves } from '../serves.js';

/** Keys of programs. The secret is in the payload of `createApiKey`, and nowhere else. */
@Resolver('ApiKey')
export class ApiKeyResolver
  implements
    Serves<'Query', 'apiKeys'>,
    Serves<'Mutation', 'createApiKey' | 'revokeApiKey'>,
    Serves<'ApiKey', 'devices'>
{
  constructor(
    @Inject(REGISTRY) private readonly registry: FleetWideStores,
    @Inject(FLEET) private readonly fleet: FleetOperations,
  ) {}

  @Query()
  apiKeys() {
    return this.registry.apiKeys.all();
  }

  @Mutation()
  async createApiKey(_root: unknown, { input }: MutationCreateApiKeyArgs, context: ApiContext) {
    const { name, scopes, devices, expiresAt } = input;
    const key = { name, scopes, devices: parseDeviceFilter(devices), expiresAt: expiresAt ?? undefined };
    const answer = await this.fleet.createApiKey(key, actorOf(context));
    return 'refusal' in answer ? { userErrors: [answer.refusal] } : { ...answer, userErrors: [] };
  }

  @Mutation()
  async revokeApiKey(_root: unknown, { id }: MutationRevokeApiKeyArgs, context: ApiContext) {
    const answer = await this.fleet.revokeApiKey(id, actorOf(context));
    return 'refusal' in answer ? { userErrors: [answer.refusal] } : { ...answer, userErrors: [] };
  }

  @ResolveField()
  devices({ devices }: ApiKeyRow) {
    return devices && showDeviceFilter(devices);
  }
}
