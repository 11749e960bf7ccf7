import { Inject } from '@nestjs/common';
import { Mutation, Query, Resolver } from '@nestjs/graphql';
import type { SigningKeyAnswer } from '@flotilla/fleet';
import { actorOf, type ApiContext } from '../api-context.js';
import { REGISTRY, SIGNING_KEYS, type FleetWideStores } from '../api-deps.js';
import type { SigningKeyOperations } from '../fleet-operations.js';
import type {
  MutationAddFirmwareSigningKeyArgs,
  MutationRemoveFirmwareSigningKeyArgs,
} from '../generated/schema-types.js';
import type { Serves } from '../serves.js';

/** The keys whose signatures firmware images may carry. */
@Resolver('FirmwareSigningKey')
export class SigningKeyResolver
  implements
    Serves<'Query', 'firmwareSigningKeys'>,
    Serves<'Mutation', 'addFirmwareSigningKey' | 'removeFirmwareSigningKey'>
{
  constructor(
    @Inject(REGISTRY) private readonly registry: FleetWideStores,
    @Inject(SIGNING_KEYS) private readonly keys: SigningKeyOperations,
  ) {}

  @Query()
  firmwareSigningKeys() {
    return this.registry.signingKeys.all();
  }

  @Mutation()
  async addFirmwareSigningKey(_root: unknown, { input }: MutationAddFirmwareSigningKeyArgs, context: ApiContext) {
    const { key: firmwareSigningKey, userErrors } = parts(await this.keys.add(input, actorOf(context)));
    return { firmwareSigningKey, userErrors };
  }

  @Mutation()
  async removeFirmwareSigningKey(_root: unknown, { id }: MutationRemoveFirmwareSigningKeyArgs, context: ApiContext) {
    const { key, userErrors } = parts(await this.keys.remove(id, actorOf(context)));
    return { deletedId: key?.id, userErrors };
  }
}

function parts(answer: SigningKeyAnswer) {
  return 'key' in answer ? { key: answer.key, userErrors: [] } : { key: undefined, userErrors: [answer.refusal] };
}
