import { Inject } from '@nestjs/common';
import { Mutation, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { webhookRevision } from '@flotilla/fleet';
import type { WebhookAnswer, WebhookRequest } from '@flotilla/fleet';
import type { WebhookRow } from '@flotilla/registry';
import { actorOf, type ApiContext } from '../api-context.js';
import { REGISTRY, WEBHOOKS, type FleetWideStores } from '../api-deps.js';
import { pageSize } from '../connection.js';
import type { WebhookOperations } from '../fleet-operations.js';
import type {
  MutationCreateWebhookArgs,
  MutationDeleteWebhookArgs,
  MutationRedeliverWebhookArgs,
  MutationTestWebhookArgs,
  MutationUpdateWebhookArgs,
  WebhookDeliveriesArgs,
  WebhookInput,
} from '../generated/schema-types.js';
import type { Serves } from '../serves.js';
import { userErrors } from '../errors/user-errors.js';

/** What the schema says where null is given. */
const FIRST = 20;

/** Webhooks: addresses that receive events. */
@Resolver('Webhook')
export class WebhookResolver
  implements
    Serves<'Query', 'webhooks'>,
    Serves<'Mutation', 'createWebhook' | 'updateWebhook' | 'deleteWebhook' | 'redeliverWebhook' | 'testWebhook'>,
    Serves<'Webhook', 'deliveries' | 'pendingEvents' | 'revision'>
{
  constructor(
    @Inject(REGISTRY) private readonly registry: FleetWideStores,
    @Inject(WEBHOOKS) private readonly acts: WebhookOperations,
  ) {}

  @Query()
  webhooks() {
    return this.registry.webhooks.all();
  }

  @Mutation()
  async createWebhook(_root: unknown, { input }: MutationCreateWebhookArgs, context: ApiContext) {
    const answer = await this.acts.create(requestOf(input), actorOf(context));
    return 'refusal' in answer ? { userErrors: [answer.refusal] } : { ...answer, userErrors: [] };
  }

  @Mutation()
  async updateWebhook(_root: unknown, { id, input, expectedRevision }: MutationUpdateWebhookArgs, context: ApiContext) {
    const request = requestOf(input);
    return toPayload(await this.acts.update(id, request, actorOf(context), expectedRevision ?? undefined));
  }

  @Mutation()
  async deleteWebhook(_root: unknown, { id }: MutationDeleteWebhookArgs, context: ApiContext) {
    const { refusal } = await this.acts.remove(id, actorOf(context));
    return refusal ? { userErrors: userErrors(refusal) } : { webhookId: id, userErrors: [] };
  }

  @Mutation()
  async redeliverWebhook(_root: unknown, { deliveryId }: MutationRedeliverWebhookArgs, context: ApiContext) {
    return toPayload(await this.acts.redeliver(deliveryId, actorOf(context)));
  }

  @Mutation()
  async testWebhook(_root: unknown, { id }: MutationTestWebhookArgs, context: ApiContext) {
    const answer = await this.acts.test(id, actorOf(context));
    if ('refusal' in answer) return { delivered: false, userErrors: userErrors(answer.refusal) };
    return { ...answer.end, delivered: answer.end.error === undefined, userErrors: [] };
  }

  @ResolveField()
  revision(webhook: WebhookRow) {
    return webhookRevision(webhook);
  }

  @ResolveField()
  deliveries({ id }: WebhookRow, args: WebhookDeliveriesArgs, { loaders }: ApiContext) {
    return loaders.webhookDeliveries(id, pageSize(args.first, FIRST));
  }

  @ResolveField()
  pendingEvents({ id }: WebhookRow, _args: unknown, { loaders }: ApiContext) {
    return loaders.webhookPending.load(id);
  }
}

function requestOf({ url, types, enabled }: WebhookInput): WebhookRequest {
  return { url, types, enabled: enabled ?? true };
}

function toPayload(answer: WebhookAnswer) {
  return 'refusal' in answer ? { userErrors: [answer.refusal] } : { webhook: answer.webhook, userErrors: [] };
}
