import { Inject } from '@nestjs/common';
import { Mutation, Query, Resolver } from '@nestjs/graphql';
import type { Refusal, SigningKeyAnswer } from '@flotilla/fleet';
import type { FirmwareSigningKeyRow } from '@flotilla/registry';
import { actorOf, type ApiContext } from '../api-context.js';
import { REGISTRY, SIGNING_KEYS, type FleetWideStores } from '../api-deps.js';
import type { SigningKeyOperations } from '../fleet-operations.js';
import type {
  MutationAddFirmwareSigningKeyArgs,
  MutationRemoveFirmwareSigningKeyArgs,
  MutationResolvers,
  QueryResolvers,
} from '../generated/schema-types.js';

interface KeyPayload {
  readonly firmwareSigningKey: FirmwareSigningKeyRow | undefined;
  readonly userErrors: readonly Refusal[];
}

interface DeletePayload {
  readonly deletedId: string | undefined;
  readonly userErrors: readonly Refusal[];
}

/** The keys whose signatures firmware images may carry. */
@Resolver('FirmwareSigningKey')
export class SigningKeyResolver
  implements
    Required<Pick<QueryResolvers, 'firmwareSigningKeys'>>,
    Required<Pick<MutationResolvers, 'addFirmwareSigningKey' | 'removeFirmwareSigningKey'>>
{
  constructor(
    @Inject(REGISTRY) private readonly registry: FleetWideStores,
    @Inject(SIGNING_KEYS) private readonly keys: SigningKeyOperations,
  ) {}

  @Query()
  firmwareSigningKeys(): Promise<readonly FirmwareSigningKeyRow[]> {
    return this.registry.signingKeys.all();
  }

  @Mutation()
  async addFirmwareSigningKey(
    _root: unknown,
    { input }: MutationAddFirmwareSigningKeyArgs,
    context: ApiContext,
  ): Promise<KeyPayload> {
    const { key: firmwareSigningKey, userErrors } = parts(await this.keys.add(input, actorOf(context)));
    return { firmwareSigningKey, userErrors };
  }

  @Mutation()
  async removeFirmwareSigningKey(
    _root: unknown,
    { id }: MutationRemoveFirmwareSigningKeyArgs,
    context: ApiContext,
  ): Promise<DeletePayload> {
    const { key, userErrors } = parts(await this.keys.remove(id, actorOf(context)));
    return { deletedId: key?.id, userErrors };
  }
}

function parts(answer: SigningKeyAnswer): {
  readonly key: FirmwareSigningKeyRow | undefined;
  readonly userErrors: readonly Refusal[];
} {
  return 'key' in answer ? { key: answer.key, userErrors: [] } : { key: undefined, userErrors: [answer.refusal] };
}
