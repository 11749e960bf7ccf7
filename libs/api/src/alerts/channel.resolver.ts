import { Inject } from '@nestjs/common';
import { Mutation, Query, Resolver } from '@nestjs/graphql';
import type { ChannelRequestInput, SavedChannel } from '@flotilla/fleet';
import { actorOf, type ApiContext } from '../api-context.js';
import { ALERTS, type FleetWideStores, REGISTRY } from '../api-deps.js';
import { userErrors } from '../errors/user-errors.js';
import type { AlertOperations } from '../fleet-operations.js';
import type {
  MutationCreateNotificationChannelArgs,
  MutationDeleteNotificationChannelArgs,
  MutationTestNotificationChannelArgs,
  MutationUpdateNotificationChannelArgs,
  NotificationChannelInput,
} from '../generated/schema-types.js';
import type { Serves } from '../serves.js';

/** Where messages about alerts go. */
@Resolver('NotificationChannel')
export class ChannelResolver
  implements
    Serves<'Query', 'notificationChannels'>,
    Serves<
      'Mutation',
      | 'createNotificationChannel'
      | 'updateNotificationChannel'
      | 'deleteNotificationChannel'
      | 'testNotificationChannel'
    >
{
  constructor(
    @Inject(REGISTRY) private readonly registry: FleetWideStores,
    @Inject(ALERTS) private readonly alerts: AlertOperations,
  ) {}

  @Query()
  async notificationChannels(_root: unknown, _args: unknown, { viewer }: ApiContext) {
    return viewer.devices === undefined ? this.registry.notificationChannels.all() : [];
  }

  @Mutation()
  async createNotificationChannel(
    _root: unknown,
    { input }: MutationCreateNotificationChannelArgs,
    context: ApiContext,
  ) {
    return toPayload(await this.alerts.createChannel(requestOf(input), actorOf(context)));
  }

  @Mutation()
  async updateNotificationChannel(
    _root: unknown,
    { id, input, expectedRevision }: MutationUpdateNotificationChannelArgs,
    context: ApiContext,
  ) {
    const request = requestOf(input);
    return toPayload(await this.alerts.updateChannel(id, request, actorOf(context), expectedRevision ?? undefined));
  }

  @Mutation()
  async deleteNotificationChannel(_root: unknown, { id }: MutationDeleteNotificationChannelArgs, context: ApiContext) {
    const { refusal } = await this.alerts.removeChannel(id, actorOf(context));
    return refusal ? { userErrors: userErrors(refusal) } : { deletedId: id, userErrors: [] };
  }

  @Mutation()
  async testNotificationChannel(_root: unknown, { id }: MutationTestNotificationChannelArgs, context: ApiContext) {
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

function toPayload(saved: SavedChannel) {
  return 'refusal' in saved
    ? { userErrors: userErrors(saved.refusal) }
    : { notificationChannel: saved.channel, userErrors: [] };
}
