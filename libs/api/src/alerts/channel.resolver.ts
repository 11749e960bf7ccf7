import { Inject } from '@nestjs/common';
import { Mutation, Query, Resolver } from '@nestjs/graphql';
import type { ChannelRequestInput, Refusal, SavedChannel } from '@flotilla/fleet';
import type { ChannelRow } from '@flotilla/registry';
import { actorOf, type ApiContext } from '../api-context.js';
import { ALERTS, type FleetWideStores, REGISTRY } from '../api-deps.js';
import { userErrors } from '../errors/user-errors.js';
import type { AlertOperations } from '../fleet-operations.js';
import type {
  MutationCreateNotificationChannelArgs,
  MutationDeleteNotificationChannelArgs,
  MutationResolvers,
  MutationTestNotificationChannelArgs,
  MutationUpdateNotificationChannelArgs,
  NotificationChannelInput,
  QueryResolvers,
} from '../generated/schema-types.js';

interface ChannelPayload {
  readonly notificationChannel?: ChannelRow;
  readonly userErrors: readonly Refusal[];
}

interface TestPayload {
  readonly delivered: boolean;
  readonly status?: number | undefined;
  readonly response?: string | undefined;
  readonly userErrors: readonly Refusal[];
}

/** Where messages about alerts go. */
@Resolver('NotificationChannel')
export class ChannelResolver
  implements
    Required<Pick<QueryResolvers, 'notificationChannels'>>,
    Required<
      Pick<
        MutationResolvers,
        | 'createNotificationChannel'
        | 'updateNotificationChannel'
        | 'deleteNotificationChannel'
        | 'testNotificationChannel'
      >
    >
{
  constructor(
    @Inject(REGISTRY) private readonly registry: FleetWideStores,
    @Inject(ALERTS) private readonly alerts: AlertOperations,
  ) {}

  @Query()
  async notificationChannels(_root: unknown, _args: unknown, { viewer }: ApiContext): Promise<readonly ChannelRow[]> {
    return viewer.devices === undefined ? this.registry.notificationChannels.all() : [];
  }

  @Mutation()
  async createNotificationChannel(
    _root: unknown,
    { input }: MutationCreateNotificationChannelArgs,
    context: ApiContext,
  ): Promise<ChannelPayload> {
    return toPayload(await this.alerts.createChannel(requestOf(input), actorOf(context)));
  }

  @Mutation()
  async updateNotificationChannel(
    _root: unknown,
    { id, input, expectedRevision }: MutationUpdateNotificationChannelArgs,
    context: ApiContext,
  ): Promise<ChannelPayload> {
    const request = requestOf(input);
    return toPayload(await this.alerts.updateChannel(id, request, actorOf(context), expectedRevision ?? undefined));
  }

  @Mutation()
  async deleteNotificationChannel(
    _root: unknown,
    { id }: MutationDeleteNotificationChannelArgs,
    context: ApiContext,
  ): Promise<{ readonly deletedId?: string; readonly userErrors: readonly Refusal[] }> {
    const { refusal } = await this.alerts.removeChannel(id, actorOf(context));
    return refusal ? { userErrors: userErrors(refusal) } : { deletedId: id, userErrors: [] };
  }

  @Mutation()
  async testNotificationChannel(
    _root: unknown,
    { id }: MutationTestNotificationChannelArgs,
    context: ApiContext,
  ): Promise<TestPayload> {
    const answer = await this.alerts.testChannel(id, actorOf(context));
    if ('refusal' in answer) return { delivered: false, userErrors: userErrors(answer.refusal) };
    const { delivered, error, response, status } = answer.result;
    // An error inside of an answer is explained by the answer itself.
    return { delivered, status, response: response || error, userErrors: [] };
  }
}

function requestOf({ config, enabled, kind, name }: NotificationChannelInput): ChannelRequestInput {
  return { name, kind, config, enabled: enabled ?? true };
}

function toPayload(saved: SavedChannel): ChannelPayload {
  return 'refusal' in saved
    ? { userErrors: userErrors(saved.refusal) }
    : { notificationChannel: saved.channel, userErrors: [] };
}
