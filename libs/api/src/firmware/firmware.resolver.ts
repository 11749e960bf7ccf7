import { Inject } from '@nestjs/common';
import { Mutation, Query, Resolver } from '@nestjs/graphql';
import type { Refusal } from '@flotilla/fleet';
import type { FirmwareImageRow } from '@flotilla/registry';
import { actorOf, type ApiContext } from '../api-context.js';
import { FIRMWARE, REGISTRY, type FleetWideStores } from '../api-deps.js';
import { pageRequest, toConnection } from '../connection.js';
import type { FirmwareOperations } from '../fleet-operations.js';
import type {
  MutationDeleteFirmwareImageArgs,
  MutationPublishFirmwareImageArgs,
  MutationWithdrawFirmwareImageArgs,
  QueryFirmwareImageArgs,
  QueryFirmwareImagesArgs,
} from '../generated/schema-types.js';
import type { Serves } from '../serves.js';
import { userErrors } from '../errors/user-errors.js';

type Answer = { readonly image: FirmwareImageRow } | { readonly refusal: Refusal };

/**
 * Reads, publishes, withdraws and deletes firmware images. rest/firmware-upload.ts receives the
 * bytes.
 */
@Resolver()
export class FirmwareResolver
  implements
    Serves<'Query', 'firmwareImages' | 'firmwareImage'>,
    Serves<'Mutation', 'publishFirmwareImage' | 'withdrawFirmwareImage' | 'deleteFirmwareImage'>
{
  constructor(
    @Inject(REGISTRY) private readonly registry: FleetWideStores,
    @Inject(FIRMWARE) private readonly firmware: FirmwareOperations,
  ) {}

  @Query()
  async firmwareImages(_root: unknown, args: QueryFirmwareImagesArgs) {
    return toConnection(await this.registry.firmwareImages.page(pageRequest(args), args.search ?? undefined));
  }

  @Query()
  firmwareImage(_root: unknown, { id }: QueryFirmwareImageArgs) {
    return this.registry.firmwareImages.find(id);
  }

  @Mutation()
  async publishFirmwareImage(
    _root: unknown,
    { id, models, notes, replaceModels }: MutationPublishFirmwareImageArgs,
    context: ApiContext,
  ) {
    const publication = { models, notes: notes ?? undefined, replacesModels: replaceModels ?? false };
    return payload(await this.firmware.publish(id, publication, actorOf(context)));
  }

  @Mutation()
  async withdrawFirmwareImage(_root: unknown, { id }: MutationWithdrawFirmwareImageArgs, context: ApiContext) {
    return payload(await this.firmware.withdraw(id, actorOf(context)));
  }

  @Mutation()
  async deleteFirmwareImage(_root: unknown, { id }: MutationDeleteFirmwareImageArgs, context: ApiContext) {
    return payload(await this.firmware.remove(id, actorOf(context)));
  }
}

function payload(answer: Answer) {
  return 'image' in answer
    ? { firmwareImage: answer.image, userErrors: [] }
    : { firmwareImage: null, userErrors: userErrors(answer.refusal) };
}
