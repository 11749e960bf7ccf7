import { Inject } from '@nestjs/common';
import { Mutation, Query, Resolver } from '@nestjs/graphql';
import type { MovedBoards } from '@flotilla/fleet';
import { actorOf, type ApiContext } from '../api-context.js';
import { MOVING, REGISTRY, type FleetWideStores } from '../api-deps.js';
import { pageRequest, toConnection } from '../connection.js';
import { userErrors } from '../errors/user-errors.js';
import type { MovingOperations } from '../fleet-operations.js';
import type {
  MutationAddMovingBoardsArgs,
  MutationMoveBoardsArgs,
  MutationMoveBoardsBackArgs,
  QueryMovingBoardsArgs,
} from '../generated/schema-types.js';
import type { Serves } from '../serves.js';

/** Boards that move here from a former server. */
@Resolver('MovingBoard')
export class MovingBoardResolver
  implements
    Serves<'Query', 'movingBoards' | 'movingSummary'>,
    Serves<'Mutation', 'addMovingBoards' | 'moveBoards' | 'moveBoardsBack'>
{
  constructor(
    @Inject(REGISTRY) private readonly registry: FleetWideStores,
    @Inject(MOVING) private readonly moving: MovingOperations,
  ) {}

  /** These are not devices, so scoped keys see none. */
  @Query()
  async movingBoards(_root: unknown, args: QueryMovingBoardsArgs, { viewer }: ApiContext) {
    const request = { ...pageRequest(args), state: args.state ?? undefined };
    if (viewer.devices !== undefined) return toConnection({ rows: [], cursors: [], hasNextPage: false });
    return toConnection(await this.registry.movingBoards.page(request));
  }

  @Query()
  async movingSummary(_root: unknown, _args: unknown, { viewer }: ApiContext) {
    if (viewer.devices !== undefined) return { hasFormerServer: false, moved: 0, notMoved: 0, unknown: 0 };
    return this.moving.summary();
  }

  @Mutation()
  async addMovingBoards(_root: unknown, { boards }: MutationAddMovingBoardsArgs, context: ApiContext) {
    const named = boards.map(({ agent, deviceId, name, user }) => ({
      deviceId,
      name: name ?? undefined,
      agent: agent ?? undefined,
      user: user ?? undefined,
    }));
    const answer = await this.moving.add(named, actorOf(context));
    return 'refusal' in answer
      ? { addedCount: 0, userErrors: userErrors(answer.refusal) }
      : { addedCount: answer.addedCount, userErrors: [] };
  }

  @Mutation()
  async moveBoards(_root: unknown, { deviceIds }: MutationMoveBoardsArgs, context: ApiContext) {
    return payloadOf(await this.moving.move(deviceIds, actorOf(context)));
  }

  @Mutation()
  async moveBoardsBack(_root: unknown, { deviceIds }: MutationMoveBoardsBackArgs, context: ApiContext) {
    return payloadOf(await this.moving.moveBack(deviceIds, actorOf(context)));
  }
}

function payloadOf(answer: MovedBoards) {
  return 'refusal' in answer
    ? { boards: [], userErrors: userErrors(answer.refusal) }
    : { boards: answer.boards, userErrors: [] };
}
