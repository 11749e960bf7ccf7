import { createHmac } from 'node:crypto';
import { openLocalBus } from '@flotilla/bus';
import type { Bus, FeedEvent } from '@flotilla/bus';
import type { DeviceId } from '@flotilla/mcp';
import { openRegistry } from '@flotilla/registry';
import type { EventRow, Registry, WebhookDeliveryRow } from '@flotilla/registry';
import { openTestDatabase } from '@flotilla/registry/test-database';
import type { TestDatabase } from '@flotilla/registry/test-database';
import { ManualClock } from '@flotilla/session';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { admin, realClock, silent } from '../fleet-fixture.suite.js';
import { openReceiver } from './receiver.suite.js';
import type { Receiver } from './receiver.suite.js';
import { WebhookDeliveries } from './webhook-deliveries.js';
import type { WebhookDeliveriesDeps } from './webhook-deliveries.js';
import { defaultWebhookLimits } from './webhook-limits.js';
import type { WebhookLimits } from './webhook-limits.js';
import { Webhooks } from './webhooks.js';

/** An answer that is given at once must not be late on a loaded machine. */
const attemptMs = 2_000;
const quick: WebhookLimits = { ...defaultWebhookLimits, attemptMs, settleMs: 300, retryMs: 40, retryMsMax: 80 };

let database: TestDatabase;
let registry: Registry;
let bus: Bus;
let receiver: Receiver;
let deliveries: WebhookDeliveries;
let heard: FeedEvent[] = [];

function start(limits: Partial<WebhookLimits> = {}, trustedOrigins = [receiver.origin]): void {
  deliveries = new WebhookDeliveries({
    registry,
    bus,
    clock: realClock,
    logger: silent,
    trustedOrigins,
    limits: { ...quick, ...limits },
  });
}

async function makeWebhook(types: readonly string[] = ['*'], url = `${receiver.origin}/hook`) {
  const webhooks = new Webhooks({
    registry,
    clock: realClock,
    announce: () => deliveries.wake(),
    trustedOrigins: [receiver.origin],
  });
  const made = await webhooks.create({ url, types, enabled: true }, admin);
  if ('refusal' in made) throw new Error(made.refusal.message);
  return { webhooks, id: made.webhook.id, secret: made.secret };
}

function append(type = 'device.connected', data: Readonly<Record<string, unknown>> = {}): EventRow {
  return registry.events.append({ type, deviceId: 'board' as DeviceId, at: Date.now(), data });
}

const logOf = async (id: string): Promise<readonly WebhookDeliveryRow[]> =>
  (await registry.webhooks.deliveriesOf([id], 100))[0] ?? [];
const ids = () => receiver.received.map(({ event }) => event.id);
/** What the sweep and the ticks of the hub do. */
const wakeUntil = (done: () => boolean | Promise<boolean>) =>
  expect
    .poll(
      async () => {
        deliveries.wake();
        return done();
      },
      { timeout: 10_000, interval: 30 },
    )
    .toBe(true);

beforeAll(async () => {
  database = await openTestDatabase();
  registry = await openRegistry({ databaseUrl: database.databaseUrl });
  bus = await openLocalBus({ databaseUrl: database.databaseUrl, logger: silent });
  bus.feed.subscribe('event', (event) => heard.push(event));
});
beforeEach(async () => {
  heard = [];
  receiver = await openReceiver();
  start();
});
afterEach(async () => {
  await deliveries.stop();
  for (const { id } of await registry.webhooks.all()) await registry.webhooks.remove(id, { at: Date.now() });
  await receiver.close();
});
afterAll(async () => {
  await bus.close();
  await registry.close();
  await database.close();
});

describe('webhooks', () => {
  it('get the events of their types as GraphQL gives them, signed, and no others', async () => {
    append('device.connected', { before: true });
    await expect.poll(() => registry.writers().find(({ name }) => name === 'event')?.depth).toBe(0);
    const { id, secret } = await makeWebhook(['device.*', 'job.finished']);
    const [first, , third] = [
      append('device.connected', { n: 1 }),
      append('devices.x'),
      append('job.finished'),
      append('job.started'),
    ];
    await wakeUntil(() => receiver.received.length === 2);
    expect(ids().sort()).toEqual([first.id, third?.id].sort());
    const got = receiver.received.find(({ event }) => event.id === first.id);
    expect(JSON.parse(got?.body ?? '')).toEqual({
      id: first.id,
      type: 'device.connected',
      deviceId: 'board',
      data: { n: 1 },
      at: new Date(first.at).toISOString(),
    });
    expect(got?.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'Flotilla',
      'flotilla-event-id': first.id,
    });
    const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(got?.headers['flotilla-signature'])) ?? [];
    expect(v1).toBe(createHmac('sha256', secret).update(`${t}.${got?.body}`).digest('hex'));
    expect(Math.abs(Number(t) - Date.now() / 1000)).toBeLessThan(60);
    await wakeUntil(async () => (await logOf(id)).length === 2);
    expect((await logOf(id))[0]).toMatchObject({ attempt: 1, status: 204, delivered: true, error: undefined });
  });

  it('receive an event again after any failure until they accept it', async () => {
    let request = 0;
    receiver.answer = (response) => {
      request += 1;
      if (request === 1) response.writeHead(500).end('no');
      else if (request === 2) response.writeHead(302, { location: `${receiver.origin}/elsewhere` }).end();
      else if (request === 3) response.destroy();
      // The fourth hangs.
      else if (request === 5) response.writeHead(200).end('x'.repeat(5_000_000));
    };
    const { id } = await makeWebhook();
    const event = append();
    await wakeUntil(async () => (await logOf(id)).length === 5);
    expect(ids()).toEqual(Array(5).fill(event.id));
    const log = (await logOf(id)).toReversed();
    expect(log.map(({ attempt, status, delivered }) => [attempt, status, delivered])).toEqual([
      [1, 500, false],
      [2, 302, false],
      [3, undefined, false],
      [4, undefined, false],
      [5, 200, true],
    ]);
    expect(log[1]?.error).toContain('redirects are not followed');
    expect(log[3]?.error).toContain('No answer within');
    expect((await registry.webhooks.all())[0]?.failingSince).toBeUndefined();
  });

  it('are left alone for a while after failures, and receive pending events later', async () => {
    await deliveries.stop();
    start({ breaker: { failures: 3, pauseMs: 300, pauseMsMax: 300 } });
    receiver.answer = (response) => response.writeHead(503).end();
    await makeWebhook();
    const events = Array.from({ length: 40 }, () => append());
    await wakeUntil(() => receiver.received.length >= 8);
    const asked = receiver.received.length;
    receiver.answer = (response) => response.writeHead(204).end();
    expect(asked).toBeLessThan(40);
    await wakeUntil(() => new Set(ids()).size === events.length);
  });

  it('get a limited number of deliveries at a time, and a slow receiver delays no other', async () => {
    await deliveries.stop();
    // Long enough for a slow machine: no attempt may time out here.
    start({ attemptMs: 60_000 });
    const { id } = await makeWebhook(['*'], `${receiver.origin}/slow`);
    await makeWebhook(['job.finished'], `${receiver.origin}/fast`);
    let open = 0;
    let most = 0;
    const held: (() => void)[] = [];
    receiver.answer = (response, { event }) => {
      if (event.type === 'job.finished') return void response.writeHead(204).end();
      open += 1;
      most = Math.max(most, open);
      held.push(() => {
        open -= 1;
        response.writeHead(204).end();
      });
    };
    for (let index = 0; index < 20; index += 1) append();
    await wakeUntil(() => held.length === quick.perWebhook);
    append('job.finished');
    await wakeUntil(() => receiver.received.some(({ event }) => event.type === 'job.finished'));
    await wakeUntil(async () => {
      for (const end of held.splice(0)) end();
      return (await logOf(id)).filter(({ delivered }) => delivered).length >= 20;
    });
    expect(most).toBeLessThanOrEqual(quick.perWebhook);
  });

  it('are paused with an event after a long time of failures, and continue when they are enabled', async () => {
    await deliveries.stop();
    start({ pausedAfterMs: 150 });
    receiver.answer = (response) => response.writeHead(500).end();
    const { webhooks, id } = await makeWebhook();
    const event = append();
    await wakeUntil(() => heard.some(({ type }) => type === 'webhook.paused'));
    expect(heard[0]).toMatchObject({ data: { webhookId: id, reason: expect.stringContaining('500') } });
    expect((await registry.webhooks.all())[0]).toMatchObject({ enabled: false, pausedAt: expect.any(Number) });
    expect((await registry.audit.page({ action: 'webhook.paused' }, { first: 1 })).rows[0]).toMatchObject({
      actor: 'hub',
      subject: `webhook:${id}`,
    });
    const unheard = append('device.disconnected');
    receiver.answer = (response) => response.writeHead(204).end();
    receiver.received.length = 0;
    await expect.poll(() => registry.writers().find(({ name }) => name === 'event')?.depth).toBe(0);
    await webhooks.update(id, { url: `${receiver.origin}/hook`, types: ['*'], enabled: true }, admin);
    await wakeUntil(() => receiver.received.length > 0);
    expect(ids()).toContain(event.id);
    expect(ids()).not.toContain(unheard.id);
    expect((await registry.webhooks.all())[0]).toMatchObject({ enabled: true, pausedAt: undefined });
  });

  it('drop an event that could not be delivered for too long, and continue with others', async () => {
    await deliveries.stop();
    // Three days in the hub. Here it is long enough for a second attempt on a loaded machine.
    start({ givenUpAfterMs: 2_000, retryMs: 800, retryMsMax: 800 });
    receiver.answer = (response) => response.writeHead(500).end();
    const { id } = await makeWebhook();
    const event = append();
    await wakeUntil(() => deliveries.counts.given_up === 1);
    const attempts = await logOf(id);
    expect(attempts.length).toBeGreaterThan(1);
    expect(attempts.every(({ delivered, status }) => !delivered && status === 500)).toBe(true);
    expect(await registry.webhooks.backlog()).toMatchObject({ pending: 0, oldestMs: 0 });
    receiver.answer = (response) => response.writeHead(204).end();
    receiver.received.length = 0;
    const next = append();
    await wakeUntil(() => deliveries.counts.delivered === 1);
    expect(ids()).toContain(next.id);
    expect(ids()).not.toContain(event.id);
    expect(deliveries.counts).toMatchObject({ delivered: 1, failed: attempts.length, given_up: 1 });
  });

  it('are paused at once by status 410, and when too many deliveries are pending', async () => {
    receiver.answer = (response) => response.writeHead(410).end();
    const { id } = await makeWebhook();
    append();
    await wakeUntil(() => heard.some(({ type, data }) => type === 'webhook.paused' && data['webhookId'] === id));
    await deliveries.stop();
    const { id: slow } = await makeWebhook();
    for (let index = 0; index < 11; index += 1) append();
    await expect.poll(() => registry.webhooks.pendingMoreThan(10)).toEqual([slow]);
    start({ pendingMax: 10, perWebhook: 1 });
    await wakeUntil(() => heard.some(({ data }) => data['webhookId'] === slow));
  });

  it('are paused for too many pending deliveries again only by events that came since they were enabled', async () => {
    const { webhooks, id } = await makeWebhook();
    for (let index = 0; index < 11; index += 1) append();
    await expect.poll(() => registry.webhooks.pendingMoreThan(10)).toEqual([id]);
    await registry.webhooks.pause(id, 'the spec', { at: Date.now() });
    // The hub delivers nothing, as when the receiver takes an hour for all of them.
    await deliveries.stop();
    const request = { url: `${receiver.origin}/hook`, types: ['*'], enabled: true };
    await webhooks.update(id, request, admin);
    expect(await registry.webhooks.backlog()).toMatchObject({ pending: 11, paused: 0 });
    expect(await registry.webhooks.pendingMoreThan(10)).toEqual([]);
    for (let index = 0; index < 11; index += 1) append();
    await expect.poll(() => registry.webhooks.pendingMoreThan(10)).toEqual([id]);
    // An edit of an enabled webhook changes nothing about that.
    await webhooks.update(id, { ...request, types: ['device.*'] }, admin);
    expect(await registry.webhooks.pendingMoreThan(10)).toEqual([id]);
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
    claim.mockResolvedValueOnce([{ url: receiver.origin }]);
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

  it('deliver an event again on request, and log events that are gone', async () => {
    const { webhooks, id } = await makeWebhook();
    const event = append();
    await wakeUntil(async () => (await logOf(id)).length === 1);
    const [delivery] = await logOf(id);
    expect(await webhooks.redeliver(delivery?.id ?? '', admin)).toMatchObject({ webhook: { id } });
    await wakeUntil(async () => (await logOf(id)).length === 2);
    expect(ids()).toEqual([event.id, event.id]);
    expect(await webhooks.redeliver('nonsense', admin)).toMatchObject({ refusal: { code: 'NOT_FOUND' } });
    await webhooks.update(id, { url: `${receiver.origin}/hook`, types: ['*'], enabled: false }, admin);
    expect(await webhooks.redeliver(delivery?.id ?? '', admin)).toMatchObject({ refusal: { code: 'CONFLICT' } });
  });

  it('receive the events that a dead process had claimed', async () => {
    const { id } = await makeWebhook();
    const event = append();
    const claim = () => registry.webhooks.claim({ limit: 10, perWebhook: 10, claimMs: 200, breaker: quick.breaker });
    await expect.poll(async () => (await claim()).map(({ eventId }) => eventId)).toEqual([event.id]);
    expect(await claim()).toEqual([]);
    await wakeUntil(() => receiver.received.length === 1);
    await wakeUntil(async () => (await logOf(id)).some(({ attempt, delivered }) => attempt === 2 && delivered));
  });

  it('check the address again on each connect, and send nothing to a forbidden one', async () => {
    await deliveries.stop();
    start({ attemptMs: 3_000 }, []);
    const { id } = await makeWebhook();
    const { port } = new URL(receiver.origin);
    const named = await registry.webhooks.create(
      { url: `http://localhost:${port}/`, types: ['*'], enabled: true, secret: 's' },
      { webhooksMax: 9, at: Date.now() },
    );
    append();
    for (const webhook of [id, named?.id ?? '']) {
      await wakeUntil(async () => (await logOf(webhook)).length > 0);
      expect((await logOf(webhook))[0]).toMatchObject({
        delivered: false,
        status: undefined,
        error: expect.stringContaining('URL_FORBIDDEN'),
      });
    }
    expect(receiver.received).toEqual([]);
  });
});
