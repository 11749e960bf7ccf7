import { Inject } from '@nestjs/common';
import { Mutation, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { webhookRevision } from '@flotilla/fleet';
import type { Refusal, WebhookAnswer, WebhookRequest } from '@flotilla/fleet';
import type { WebhookDeliveryRow, WebhookRow } from '@flotilla/registry';
import { actorOf, type ApiContext } from '../api-context.js';
import { LIMITS, REGISTRY, WEBHOOKS, type FleetWideStores } from '../api-deps.js';
import { pageSize } from '../connection.js';
import type { WebhookOperations } from '../fleet-operations.js';
import type {
  MutationCreateWebhookArgs,
  MutationDeleteWebhookArgs,
  MutationRedeliverWebhookArgs,
  MutationResolvers,
  MutationTestWebhookArgs,
  MutationUpdateWebhookArgs,
  QueryResolvers,
  WebhookDeliveriesArgs,
  WebhookInput,
  WebhookResolvers,
} from '../generated/schema-types.js';
import type { ApiLimits } from '../limits/api-limits.js';
import { userErrors } from '../errors/user-errors.js';

interface WebhookPayload {
  readonly webhook?: WebhookRow;
  readonly userErrors: readonly Refusal[];
}

interface TestPayload {
  readonly delivered: boolean;
  readonly status?: number | undefined;
  readonly error?: string | undefined;
  readonly userErrors: readonly Refusal[];
}

/** What the schema says where null is given. */
const FIRST = 20;

/** Webhooks: addresses that receive events. */
@Resolver('Webhook')
export class WebhookResolver
  implements
    Required<Pick<QueryResolvers, 'webhooks'>>,
    Required<
      Pick<MutationResolvers, 'createWebhook' | 'updateWebhook' | 'deleteWebhook' | 'redeliverWebhook' | 'testWebhook'>
    >,
    Required<Pick<WebhookResolvers, 'deliveries' | 'pendingEvents' | 'revision'>>
{
  constructor(
    @Inject(REGISTRY) private readonly registry: FleetWideStores,
    @Inject(WEBHOOKS) private readonly acts: WebhookOperations,
    @Inject(LIMITS) private readonly limits: ApiLimits,
  ) {}

  @Query()
  webhooks(): Promise<readonly WebhookRow[]> {
    return this.registry.webhooks.all();
  }

  @Mutation()
  async createWebhook(
    _root: unknown,
    { input }: MutationCreateWebhookArgs,
    context: ApiContext,
  ): Promise<WebhookPayload & { readonly secret?: string }> {
    const answer = await this.acts.create(requestOf(input), actorOf(context));
    return 'refusal' in answer ? { userErrors: [answer.refusal] } : { ...answer, userErrors: [] };
  }

  @Mutation()
  async updateWebhook(
    _root: unknown,
    { id, input, expectedRevision }: MutationUpdateWebhookArgs,
    context: ApiContext,
  ): Promise<WebhookPayload> {
    const request = requestOf(input);
    return toPayload(await this.acts.update(id, request, actorOf(context), expectedRevision ?? undefined));
  }

  @Mutation()
  async deleteWebhook(
    _root: unknown,
    { id }: MutationDeleteWebhookArgs,
    context: ApiContext,
  ): Promise<{ readonly webhookId?: string; readonly userErrors: readonly Refusal[] }> {
    const { refusal } = await this.acts.remove(id, actorOf(context));
    return refusal ? { userErrors: userErrors(refusal) } : { webhookId: id, userErrors: [] };
  }

  @Mutation()
  async redeliverWebhook(
    _root: unknown,
    { deliveryId }: MutationRedeliverWebhookArgs,
    context: ApiContext,
  ): Promise<WebhookPayload> {
    return toPayload(await this.acts.redeliver(deliveryId, actorOf(context)));
  }

  @Mutation()
  async testWebhook(_root: unknown, { id }: MutationTestWebhookArgs, context: ApiContext): Promise<TestPayload> {
    const answer = await this.acts.test(id, actorOf(context));
    if ('refusal' in answer) return { delivered: false, userErrors: userErrors(answer.refusal) };
    return { ...answer.end, delivered: answer.end.error === undefined, userErrors: [] };
  }

  @ResolveField()
  revision(webhook: WebhookRow): string {
    return webhookRevision(webhook);
  }

  @ResolveField()
  deliveries(
    { id }: WebhookRow,
    args: WebhookDeliveriesArgs,
    { loaders }: ApiContext,
  ): Promise<readonly WebhookDeliveryRow[]> {
    return loaders.webhookDeliveries(id, pageSize(args.first, FIRST, this.limits.pageRowsMax));
  }

  @ResolveField()
  pendingEvents({ id }: WebhookRow, _args: unknown, { loaders }: ApiContext): Promise<number> {
    return loaders.webhookPending.load(id);
  }
}

function requestOf({ url, types, enabled }: WebhookInput): WebhookRequest {
  return { url, types, enabled: enabled ?? true };
}

function toPayload(answer: WebhookAnswer): WebhookPayload {
  return 'refusal' in answer ? { userErrors: [answer.refusal] } : { webhook: answer.webhook, userErrors: [] };
}
