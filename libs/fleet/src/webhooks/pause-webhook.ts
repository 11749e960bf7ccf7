/**
 * Pauses a webhook on behalf of the hub, with an audit entry and an event. With `url`: unless it
 * has another one meanwhile.
 */
import type { WebhookDeliveriesDeps } from './webhook-deliveries.js';

export async function pauseWebhook(
  { bus, clock, logger, registry }: WebhookDeliveriesDeps,
  webhookId: string,
  reason: string,
  url?: string,
): Promise<void> {
  const at = clock.now();
  if (!(await registry.webhooks.pause(webhookId, reason, { at, by: { actor: 'hub' }, url }))) return;
  logger.warn({ webhookId, reason }, 'a webhook is paused until a person enables it again');
  bus.feed.publish(
    'event',
    registry.events.append({ type: 'webhook.paused', deviceId: undefined, at, data: { webhookId, reason } }),
  );
}
