import { randomUUID } from 'node:crypto';
import type { DeviceId } from '@flotilla/mcp';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { WebhookRow } from '../index.js';
import { openRegistryFixture } from '../registry-fixture.suite.js';
import type { RegistryFixture } from '../registry-fixture.suite.js';

const settings = { url: 'https://receiver.example/hook', types: ['*'] };
const claim = {
  limit: 10,
  perWebhook: 8,
  claimMs: 60_000,
  breaker: { failures: 3, pauseMs: 1_000, pauseMsMax: 1_000 },
};

let fixture: RegistryFixture;

beforeAll(async () => {
  fixture = await openRegistryFixture();
});
afterAll(() => fixture.close());

async function addWebhook(): Promise<WebhookRow> {
  const options = { webhooksMax: 5, at: Date.now() };
  const made = await fixture.registry.webhooks.create({ ...settings, enabled: true, secret: 's' }, options);
  if (made === undefined) throw new TypeError('There are too many webhooks.');
  return made;
}

it('gives the events of a paused webhook their time again when it is enabled', async () => {
  const { events, webhooks } = fixture.registry;
  const { id } = await addWebhook();
  events.append({ type: 'device.connected', deviceId: 'board' as DeviceId, at: Date.now(), data: {} });
  await expect.poll(async () => (await webhooks.backlog()).pending).toBe(1);
  await fixture.raw.query(`UPDATE webhook_outbox SET pending_since = now() - interval '4 days'`);
  await webhooks.pause(id, 'the spec', { at: Date.now() });
  await webhooks.update(id, { ...settings, enabled: true }, { at: Date.now() });
  const [pending] = await webhooks.claim(claim);
  const { rows } = await fixture.raw.query<{ at: Date }>('SELECT enabled_at AS at FROM webhook');
  expect(pending?.pendingSince).toBe(rows[0]?.at.getTime());
});

it('has the types of delivered events while they are kept, and counts those that wait', async () => {
  const { events, webhooks } = fixture.registry;
  const options = { webhooksMax: 9, at: Date.now() };
  const id = (await webhooks.create({ ...settings, types: ['job.finished'], enabled: true, secret: 's' }, options))?.id;
  if (id === undefined) throw new TypeError('There are too many webhooks.');
  events.append({ type: 'job.finished', deviceId: undefined, at: Date.now(), data: {} });
  await expect.poll(() => webhooks.pendingOf([id, randomUUID()])).toEqual([1, 0]);
  const pending = (await webhooks.claim(claim)).find(({ webhookId }) => webhookId === id);
  if (pending === undefined) throw new TypeError('Nothing was claimed.');
  const end = { pending, at: Date.now(), status: 204, error: undefined, result: { kind: 'delivered' } } as const;
  await webhooks.settle(end, claim.breaker);
  expect(await webhooks.pendingOf([id])).toEqual([0]);
  expect(await webhooks.deliveriesOf([id], 9)).toMatchObject([[{ status: 204, eventType: 'job.finished' }]]);
  await fixture.raw.query('DELETE FROM event WHERE id = $1', [pending.eventId]);
  expect(await webhooks.deliveriesOf([id], 9)).toMatchObject([[{ status: 204, eventType: undefined }]]);
});

it('takes a webhook that a person leaves disabled for stopped, not for paused by the hub', async () => {
  const { webhooks } = fixture.registry;
  const { id } = await addWebhook();
  await webhooks.pause(id, 'the spec', { at: Date.now() });
  expect(await webhooks.backlog()).toMatchObject({ paused: 1 });
  expect(await webhooks.update(id, { ...settings, enabled: false }, { at: Date.now() })).toMatchObject({
    enabled: false,
    pausedAt: undefined,
  });
  expect(await webhooks.backlog()).toMatchObject({ paused: 0 });
});
