import { Inject } from '@nestjs/common';
import { Mutation, Query, ResolveField, Resolver } from '@nestjs/graphql';
import type { BlockedBoardRow } from '@flotilla/registry';
import { actorOf, type ApiContext } from '../api-context.js';
import { PROVISIONING, REGISTRY, type FleetWideStores } from '../api-deps.js';
import { pageRequest, toConnection } from '../connection.js';
import type { ProvisioningOperations } from '../fleet-operations.js';
import type {
  MutationBlockBoardArgs,
  MutationUnblockBoardArgs,
  QueryBlockedBoardsArgs,
} from '../generated/schema-types.js';
import type { Serves } from '../serves.js';
import { userErrors } from '../errors/user-errors.js';

/** Boards that are not admitted, although they may ask. */
@Resolver('BlockedBoard')
export class BlockedBoardResolver
  implements
    Serves<'Query', 'blockedBoards'>,
    Serves<'Mutation', 'blockBoard' | 'unblockBoard'>,
    Serves<'BlockedBoard', 'until'>
{
  constructor(
    @Inject(REGISTRY) private readonly registry: FleetWideStores,
    @Inject(PROVISIONING) private readonly provisioning: ProvisioningOperations,
  ) {}

  /** These are not devices, so scoped keys see none. */
  @Query()
  async blockedBoards(_root: unknown, args: QueryBlockedBoardsArgs, { viewer }: ApiContext) {
    const request = pageRequest(args);
    if (viewer.devices !== undefined) return toConnection({ rows: [], cursors: [], hasNextPage: false });
    return toConnection(await this.registry.enrolments.blockedPage(request));
  }

  @ResolveField()
  until({ blockedUntil }: BlockedBoardRow) {
    return blockedUntil ?? null;
  }

  @Mutation()
  async blockBoard(_root: unknown, { deviceId, until }: MutationBlockBoardArgs, context: ApiContext) {
    const answer = await this.provisioning.blockBoard({ deviceId, until: until ?? undefined }, actorOf(context));
    return 'refusal' in answer
      ? { userErrors: userErrors(answer.refusal) }
      : { blockedBoard: answer.board, userErrors: [] };
  }

  @Mutation()
  async unblockBoard(_root: unknown, { deviceId }: MutationUnblockBoardArgs, context: ApiContext) {
    const answer = await this.provisioning.unblockBoard(deviceId, actorOf(context));
    return 'refusal' in answer
      ? { userErrors: userErrors(answer.refusal) }
      : { deviceId: answer.deviceId, userErrors: [] };
  }
}
