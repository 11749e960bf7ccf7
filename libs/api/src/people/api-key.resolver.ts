import { Inject } from '@nestjs/common';
import { Mutation, Query, ResolveField, Resolver } from '@nestjs/graphql';
import type { Refusal } from '@flotilla/fleet';
import type { ApiKeyRow } from '@flotilla/registry';
import { actorOf, type ApiContext } from '../api-context.js';
import { FLEET, REGISTRY, type FleetWideStores } from '../api-deps.js';
import { parseDeviceFilter, showDeviceFilter } from '../devices/device-filter-input.js';
import type { FleetOperations } from '../fleet-operations.js';
import type {
  ApiKeyResolvers,
  MutationCreateApiKeyArgs,
  MutationResolvers,
  MutationRevokeApiKeyArgs,
  QueryResolvers,
} from '../generated/schema-types.js';

interface KeyPayload {
  readonly apiKey?: ApiKeyRow;
  readonly userErrors: readonly Refusal[];
}

/** Keys of programs. The secret is in the payload of `createApiKey`, and nowhere else. */
@Resolver('ApiKey')
export class ApiKeyResolver
  implements
    Required<Pick<QueryResolvers, 'apiKeys'>>,
    Required<Pick<MutationResolvers, 'createApiKey' | 'revokeApiKey'>>,
    Required<Pick<ApiKeyResolvers, 'devices'>>
{
  constructor(
    @Inject(REGISTRY) private readonly registry: FleetWideStores,
    @Inject(FLEET) private readonly fleet: FleetOperations,
  ) {}

  @Query()
  apiKeys(): Promise<readonly ApiKeyRow[]> {
    return this.registry.apiKeys.all();
  }

  @Mutation()
  async createApiKey(
    _root: unknown,
    { input }: MutationCreateApiKeyArgs,
    context: ApiContext,
  ): Promise<KeyPayload & { readonly secret?: string }> {
    const { name, scopes, devices, expiresAt } = input;
    const key = { name, scopes, devices: parseDeviceFilter(devices), expiresAt: expiresAt ?? undefined };
    const answer = await this.fleet.createApiKey(key, actorOf(context));
    return 'refusal' in answer ? { userErrors: [answer.refusal] } : { ...answer, userErrors: [] };
  }

  @Mutation()
  async revokeApiKey(_root: unknown, { id }: MutationRevokeApiKeyArgs, context: ApiContext): Promise<KeyPayload> {
    const answer = await this.fleet.revokeApiKey(id, actorOf(context));
    return 'refusal' in answer ? { userErrors: [answer.refusal] } : { ...answer, userErrors: [] };
  }

  @ResolveField()
  devices({ devices }: ApiKeyRow): unknown {
    return devices && showDeviceFilter(devices);
  }
}
