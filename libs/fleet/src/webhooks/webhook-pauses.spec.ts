/** When the hub pauses a webhook: it fails for long, is gone, or has too much that is pending. */
import { ManualClock } from '@flotilla/session';
import { describe, expect, it, vi } from 'vitest';
import { admin } from '../fleet-fixture.suite.js';
import { withDeliveryBench } from './delivery-bench.suite.js';
import type { DeliveryBench } from './delivery-bench.suite.js';
import { WebhookDeliveries } from './webhook-deliveries.js';
import type { WebhookDeliveriesDeps } from './webhook-deliveries.js';

let bench: DeliveryBench;
withDeliveryBench((made) => (bench = made));

describe('webhooks', () => {
  it('are paused with an event after a long time of failures, and continue when they are enabled', async () => {
    await bench.deliveries.stop();
    bench.start({ pausedAfterMs: 150 });
    bench.receiver.answer = (response) => response.writeHead(500).end();
    const { webhooks, id } = await bench.makeWebhook();
    const event = bench.append();
    await bench.wakeUntil(() => bench.heard.some(({ type }) => type === 'webhook.paused'));
    expect(bench.heard[0]).toMatchObject({ data: { webhookId: id, reason: expect.stringContaining('500') } });
    expect((await bench.registry.webhooks.all())[0]).toMatchObject({ enabled: false, pausedAt: expect.any(Number) });
    expect((await bench.registry.audit.page({ action: 'webhook.paused' }, { first: 1 })).rows[0]).toMatchObject({
      actor: 'hub',
      subject: `webhook:${id}`,
    });
    const unheard = bench.append('device.disconnected');
    bench.receiver.answer = (response) => response.writeHead(204).end();
    bench.receiver.received.length = 0;
    await bench.written();
    await webhooks.update(id, { url: `${bench.receiver.origin}/hook`, types: ['*'], enabled: true }, admin);
    await bench.wakeUntil(() => bench.receiver.received.length > 0);
    expect(bench.ids()).toContain(event.id);
    expect(bench.ids()).not.toContain(unheard.id);
    expect((await bench.registry.webhooks.all())[0]).toMatchObject({ enabled: true, pausedAt: undefined });
  });

  it('are paused at once by status 410, and when too many deliveries are pending', async () => {
    bench.receiver.answer = (response) => response.writeHead(410).end();
    const { id } = await bench.makeWebhook();
    bench.append();
    await bench.wakeUntil(() =>
      bench.heard.some(({ type, data }) => type === 'webhook.paused' && data['webhookId'] === id),
    );
    await bench.deliveries.stop();
    const { id: slow } = await bench.makeWebhook();
    for (let index = 0; index < 11; index += 1) bench.append();
    await expect.poll(() => bench.registry.webhooks.pendingMoreThan(10)).toEqual([slow]);
    bench.start({ pendingMax: 10, perWebhook: 1 });
    await bench.wakeUntil(() => bench.heard.some(({ data }) => data['webhookId'] === slow));
  });

  it('are not paused by a former address that answers 410 after it was changed', async () => {
    const held: (() => void)[] = [];
    bench.receiver.answer = (response) => held.push(() => response.writeHead(410).end());
    const { webhooks, id } = await bench.makeWebhook();
    const event = bench.append();
    await bench.wakeUntil(() => held.length > 0);
    bench.receiver.answer = (response) => response.writeHead(204).end();
    await webhooks.update(id, { url: `${bench.receiver.origin}/new`, types: ['*'], enabled: true }, admin);
    for (const answer of held) answer();
    await bench.wakeUntil(async () => (await bench.logOf(id)).length === 2);
    expect((await bench.logOf(id)).map(({ status }) => status).sort()).toEqual([204, 410]);
    expect(bench.ids()).toEqual([event.id, event.id]);
    expect((await bench.registry.webhooks.all())[0]).toMatchObject({ enabled: true, pausedAt: undefined });
  });

  it('are paused for too many pending deliveries again only by events that came since they were enabled', async () => {
    const { webhooks, id } = await bench.makeWebhook();
    for (let index = 0; index < 11; index += 1) bench.append();
    await expect.poll(() => bench.registry.webhooks.pendingMoreThan(10)).toEqual([id]);
    await bench.registry.webhooks.pause(id, 'the spec', { at: Date.now() });
    // The hub delivers nothing, as when the receiver takes an hour for all of them.
    await bench.deliveries.stop();
    const request = { url: `${bench.receiver.origin}/hook`, types: ['*'], enabled: true };
    await webhooks.update(id, request, admin);
    expect(await bench.registry.webhooks.backlog()).toMatchObject({ pending: 11, paused: 0 });
    expect(await bench.registry.webhooks.pendingMoreThan(10)).toEqual([]);
    for (let index = 0; index < 11; index += 1) bench.append();
    await expect.poll(() => bench.registry.webhooks.pendingMoreThan(10)).toEqual([id]);
    // An edit of an enabled webhook changes nothing about that.
    await webhooks.update(id, { ...request, types: ['device.*'] }, admin);
    expect(await bench.registry.webhooks.pendingMoreThan(10)).toEqual([id]);
  });

  it('are counted for too many pending deliveries also when the clock was set back', async () => {
    const clock = new ManualClock(10_000_000);
    let looks = 0;
    const pendingMoreThan = () => {
      looks += 1;
      return Promise.resolve([]);
    };
    const webhooks = { pendingMoreThan, claim: () => Promise.resolve([]) };
    const deps = { registry: { webhooks }, clock, trustedOrigins: [] } as unknown as WebhookDeliveriesDeps;
    const others = new WebhookDeliveries(deps);
    for (const [stepMs, expected] of [
      [0, 1],
      [-3_600_000, 2],
    ] as const) {
      clock.step(stepMs);
      others.wake();
      await expect.poll(() => looks).toBe(expected);
    }
    await others.stop();
  });

  it('are counted for too many pending deliveries also while a delivery is under way', async () => {
    const clock = new ManualClock(10_000_000);
    const pendingMoreThan = vi.fn(() => Promise.resolve([]));
    const claim = vi.fn(() => Promise.resolve([] as object[]));
    claim.mockResolvedValueOnce([{ url: bench.receiver.origin }]);
    let end: () => void = () => undefined;
    const settle = () => new Promise<void>((resolve) => (end = resolve));
    const registry = { webhooks: { pendingMoreThan, claim, settle } };
    const others = new WebhookDeliveries({ registry, clock, trustedOrigins: [] } as unknown as WebhookDeliveriesDeps);
    others.wake();
    await expect.poll(() => claim.mock.calls.length).toBeGreaterThan(1);
    expect(pendingMoreThan).toHaveBeenCalledTimes(1);
    clock.step(60_000);
    others.wake();
    await expect.poll(() => pendingMoreThan.mock.calls.length).toBe(2);
    end();
    await others.stop();
  });
});
