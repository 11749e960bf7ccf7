/** Creates, changes and deletes webhooks, and delivers an event again on request. */
import { randomBytes } from 'node:crypto';
import type { Registry, WebhookRow } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import { sourceOf } from '../actor.js';
import type { Actor } from '../actor.js';
import { requestHash } from '../idempotency/request-hash.js';
import { newId } from '../new-id.js';
import { changedMeanwhile, refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';
import { defaultWebhookLimits } from './webhook-limits.js';
import type { WebhookLimits } from './webhook-limits.js';
import { refuseWebhook } from './webhook-request.js';
import type { WebhookRequest } from './webhook-request.js';
import type { AttemptEnd, WebhookSender } from './webhook-sender.js';

interface WebhooksDeps {
  readonly registry: Pick<Registry, 'webhooks'>;
  readonly clock: Clock;
  /** Notifies the workers of pending deliveries. */
  readonly announce: () => void;
  /** Sends test events. */
  readonly sender: Pick<WebhookSender, 'send'>;
  /** Origins that may be anywhere. */
  readonly trustedOrigins: readonly string[];
  readonly limits?: WebhookLimits;
}

export type WebhookAnswer = { readonly webhook: WebhookRow } | { readonly refusal: Refusal };

type CreatedWebhook = { readonly webhook: WebhookRow; readonly secret: string } | { readonly refusal: Refusal };

type TestedWebhook = { readonly end: AttemptEnd } | { readonly refusal: Refusal };

/** Bytes of a secret, as many as the hash of the signature has. */
const SECRET_BYTES = 32;

export class Webhooks {
  readonly #trusted: ReadonlySet<string>;

  constructor(private readonly deps: WebhooksDeps) {
    this.#trusted = new Set(deps.trustedOrigins);
  }

  /** The only answer with the secret. */
  async create(request: WebhookRequest, actor: Actor): Promise<CreatedWebhook> {
    const { clock, registry, limits = defaultWebhookLimits } = this.deps;
    const refusal = await refuseWebhook(request, this.#trusted, clock);
    if (refusal !== undefined) return { refusal };
    const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64url')}`;
    const { webhooksMax } = limits;
    const webhook = await registry.webhooks.create(
      { ...request, secret },
      { webhooksMax, at: clock.now(), by: sourceOf(actor) },
    );
    if (webhook !== undefined) return { webhook, secret };
    return {
      refusal: refuse('LIMIT_EXCEEDED', [], `There are ${webhooksMax} webhooks; delete one that is not needed.`),
    };
  }

  /**
   * Replaces address, types and whether it is enabled. The secret stays. Without an expected
   * revision it replaces any.
   */
  async update(id: string, request: WebhookRequest, actor: Actor, expectedRevision?: string): Promise<WebhookAnswer> {
    const { announce, clock, registry } = this.deps;
    const stored = await registry.webhooks.findSigned(id);
    const refusal = await refuseWebhook(request, this.#trusted, clock, stored?.types);
    if (refusal !== undefined) return { refusal };
    const isExpected = (stored: WebhookRow) =>
      expectedRevision === undefined || webhookRevision(stored) === expectedRevision;
    const change = { at: clock.now(), by: sourceOf(actor), isExpected };
    const webhook = await registry.webhooks.update(id, request, change);
    if (webhook === undefined) return { refusal: noSuchWebhook(id) };
    if (webhook === 'OTHER_REVISION') return { refusal: changedMeanwhile('webhook') };
    if (webhook.enabled) announce();
    return { webhook };
  }

  async remove(id: string, actor: Actor): Promise<{ readonly refusal?: Refusal }> {
    const { clock, registry } = this.deps;
    return (await registry.webhooks.remove(id, { at: clock.now(), by: sourceOf(actor) }))
      ? {}
      : { refusal: noSuchWebhook(id) };
  }

  /**
   * Sends a signed test event once, also to a webhook that is not enabled. The event is not stored,
   * and a failure does not count for the webhook.
   */
  async test(id: string, actor: Actor): Promise<TestedWebhook> {
    const { clock, registry, sender } = this.deps;
    const webhook = await registry.webhooks.findSigned(id);
    if (webhook === undefined) return { refusal: noSuchWebhook(id) };
    const { secret, ...row } = webhook;
    const at = clock.now();
    const event = { id: newId(at), type: 'webhook.test', deviceId: undefined, at, data: { webhookId: id } };
    const end = await sender.send({ url: row.url, secret, event, at }, new AbortController().signal);
    const change = { at: clock.now(), by: sourceOf(actor) };
    await registry.webhooks.recordTest(row, end.error === undefined, change);
    return { end };
  }

  /** Has the event of an attempt delivered once more, whether it was delivered or not. */
  async redeliver(deliveryId: string, actor: Actor): Promise<WebhookAnswer> {
    const { announce, clock, registry } = this.deps;
    const answer = await registry.webhooks.redeliver(deliveryId, { at: clock.now(), by: sourceOf(actor) });
    const path = ['deliveryId'];
    switch (answer.kind) {
      case 'queued':
        announce();
        return { webhook: answer.webhook };
      case 'NOT_FOUND':
        return { refusal: refuse('NOT_FOUND', path, `There is no delivery "${deliveryId.slice(0, 100)}".`) };
      case 'DISABLED':
        return { refusal: refuse('CONFLICT', path, 'The webhook is not enabled: enable it first, by updateWebhook.') };
      case 'EVENT_GONE':
        return { refusal: refuse('CONFLICT', path, 'The event is older than what is kept (FLOTILLA_RETENTION_DAYS).') };
    }
  }
}

/** Another one after each change of the webhook; also after the hub has paused it. */
export function webhookRevision({ url, types, enabled }: WebhookRow): string {
  return requestHash({ url, types, enabled });
}

function noSuchWebhook(id: string): Refusal {
  return refuse('NOT_FOUND', ['id'], `There is no webhook "${id.slice(0, 100)}".`);
}
