/** What webhooks receive, when they receive it again, and what they never receive. */
import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { admin } from '../fleet-fixture.suite.js';
import { quick, withDeliveryBench } from './delivery-bench.suite.js';
import type { DeliveryBench } from './delivery-bench.suite.js';

let bench: DeliveryBench;
withDeliveryBench((made) => (bench = made));

describe('webhooks', () => {
  it('get the events of their types as GraphQL gives them, signed, and no others', async () => {
    bench.append('device.connected', { before: true });
    await bench.written();
    const { id, secret } = await bench.makeWebhook(['device.*', 'enrolment.*', 'job.finished']);
    const [first, , third] = [
      bench.append('device.connected', { n: 1 }),
      bench.append('enrolment_link.created'),
      bench.append('job.finished'),
      bench.append('job.started'),
    ];
    await bench.wakeUntil(() => bench.receiver.received.length === 2);
    expect(bench.ids().sort()).toEqual([first.id, third?.id].sort());
    const got = bench.receiver.received.find(({ event }) => event.id === first.id);
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
    await bench.wakeUntil(async () => (await bench.logOf(id)).length === 2);
    expect((await bench.logOf(id))[0]).toMatchObject({ attempt: 1, status: 204, delivered: true, error: undefined });
  });

  it('get a signed test event at once, also while they are disabled, and its failure changes nothing', async () => {
    const { id, secret, webhooks } = await bench.makeWebhook();
    const url = `${bench.receiver.origin}/hook`;
    await webhooks.update(id, { url, types: ['*'], enabled: false }, admin);
    expect(await webhooks.test(id, admin)).toEqual({ end: { status: 204, error: undefined } });
    const [got] = bench.receiver.received;
    expect(got?.event).toMatchObject({ type: 'webhook.test', deviceId: null, data: { webhookId: id } });
    const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(got?.headers['flotilla-signature'])) ?? [];
    expect(v1).toBe(createHmac('sha256', secret).update(`${t}.${got?.body}`).digest('hex'));
    bench.receiver.answer = (response) => response.writeHead(500).end();
    const failed = { status: 500, error: 'The receiver answered 500.' };
    expect(await webhooks.test(id, admin)).toEqual({ end: failed });
    expect(await bench.logOf(id)).toEqual([]);
    expect(await bench.registry.webhooks.all()).toMatchObject([{ enabled: false, failingSince: undefined }]);
    const tests = await bench.registry.audit.page({ subject: `webhook:${id}`, action: 'webhook.tested' }, { first: 9 });
    expect(tests.rows.map(({ data }) => data['delivered'])).toEqual([false, true]);
    expect(await webhooks.test('none', admin)).toMatchObject({ refusal: { code: 'NOT_FOUND', path: ['id'] } });
  });

  it('receive an event again after any failure until they accept it', async () => {
    let request = 0;
    bench.receiver.answer = (response) => {
      request += 1;
      if (request === 1) response.writeHead(500).end('no');
      else if (request === 2) response.writeHead(302, { location: `${bench.receiver.origin}/elsewhere` }).end();
      else if (request === 3) response.destroy();
      // The fourth hangs.
      else if (request === 5) response.writeHead(200).end('x'.repeat(5_000_000));
    };
    const { id } = await bench.makeWebhook();
    const event = bench.append();
    await bench.wakeUntil(async () => (await bench.logOf(id)).length === 5);
    expect(bench.ids()).toEqual(Array(5).fill(event.id));
    const log = (await bench.logOf(id)).toReversed();
    expect(log.map(({ attempt, status, delivered }) => [attempt, status, delivered])).toEqual([
      [1, 500, false],
      [2, 302, false],
      [3, undefined, false],
      [4, undefined, false],
      [5, 200, true],
    ]);
    expect(log[1]?.error).toContain('redirects are not followed');
    expect(log[3]?.error).toContain('No answer within');
    expect((await bench.registry.webhooks.all())[0]?.failingSince).toBeUndefined();
  });

  it('are left alone for a while after failures, and receive pending events later', async () => {
    await bench.deliveries.stop();
    bench.start({ breaker: { failures: 3, pauseMs: 300, pauseMsMax: 300 } });
    bench.receiver.answer = (response) => response.writeHead(503).end();
    await bench.makeWebhook();
    const events = Array.from({ length: 40 }, () => bench.append());
    await bench.wakeUntil(() => bench.receiver.received.length >= 8);
    const asked = bench.receiver.received.length;
    bench.receiver.answer = (response) => response.writeHead(204).end();
    expect(asked).toBeLessThan(40);
    await bench.wakeUntil(() => new Set(bench.ids()).size === events.length);
  });

  it('get a limited number of deliveries at a time, and a slow receiver delays no other', async () => {
    await bench.deliveries.stop();
    // Long enough for a slow machine: no attempt may time out here.
    bench.start({ attemptMs: 60_000 });
    const { id } = await bench.makeWebhook(['*'], `${bench.receiver.origin}/slow`);
    await bench.makeWebhook(['job.finished'], `${bench.receiver.origin}/fast`);
    let open = 0;
    let most = 0;
    const held: (() => void)[] = [];
    bench.receiver.answer = (response, { event }) => {
      if (event.type === 'job.finished') return void response.writeHead(204).end();
      open += 1;
      most = Math.max(most, open);
      held.push(() => {
        open -= 1;
        response.writeHead(204).end();
      });
    };
    for (let index = 0; index < 20; index += 1) bench.append();
    await bench.wakeUntil(() => held.length === quick.perWebhook);
    bench.append('job.finished');
    await bench.wakeUntil(() => bench.receiver.received.some(({ event }) => event.type === 'job.finished'));
    await bench.wakeUntil(async () => {
      for (const end of held.splice(0)) end();
      return (await bench.logOf(id)).filter(({ delivered }) => delivered).length >= 20;
    });
    expect(most).toBeLessThanOrEqual(quick.perWebhook);
  });

  it('drop an event that could not be delivered for too long, and continue with others', async () => {
    await bench.deliveries.stop();
    // Three days in the hub. Here it is long enough for a second attempt on a loaded machine.
    bench.start({ givenUpAfterMs: 2_000, retryMs: 800, retryMsMax: 800 });
    bench.receiver.answer = (response) => response.writeHead(500).end();
    const { id } = await bench.makeWebhook();
    const event = bench.append();
    await bench.wakeUntil(() => bench.deliveries.counts.given_up === 1);
    const attempts = await bench.logOf(id);
    expect(attempts.length).toBeGreaterThan(1);
    expect(attempts.every(({ delivered, status }) => !delivered && status === 500)).toBe(true);
    expect(await bench.registry.webhooks.backlog()).toMatchObject({ pending: 0, oldestMs: 0 });
    bench.receiver.answer = (response) => response.writeHead(204).end();
    bench.receiver.received.length = 0;
    const next = bench.append();
    await bench.wakeUntil(() => bench.deliveries.counts.delivered === 1);
    expect(bench.ids()).toContain(next.id);
    expect(bench.ids()).not.toContain(event.id);
    expect(bench.deliveries.counts).toMatchObject({ delivered: 1, failed: attempts.length, given_up: 1 });
  });

  it('deliver an event again on request, and log events that are gone', async () => {
    const { webhooks, id } = await bench.makeWebhook();
    const event = bench.append();
    await bench.wakeUntil(async () => (await bench.logOf(id)).length === 1);
    const [delivery] = await bench.logOf(id);
    expect(await webhooks.redeliver(delivery?.id ?? '', admin)).toMatchObject({ webhook: { id } });
    await bench.wakeUntil(async () => (await bench.logOf(id)).length === 2);
    expect(bench.ids()).toEqual([event.id, event.id]);
    expect(await webhooks.redeliver('nonsense', admin)).toMatchObject({ refusal: { code: 'NOT_FOUND' } });
    await webhooks.update(id, { url: `${bench.receiver.origin}/hook`, types: ['*'], enabled: false }, admin);
    expect(await webhooks.redeliver(delivery?.id ?? '', admin)).toMatchObject({ refusal: { code: 'CONFLICT' } });
  });

  it('receive the events that a dead process had claimed', async () => {
    const { id } = await bench.makeWebhook();
    const event = bench.append();
    const claim = () =>
      bench.registry.webhooks.claim({ limit: 10, perWebhook: 10, claimMs: 200, breaker: quick.breaker });
    await expect.poll(async () => (await claim()).map(({ eventId }) => eventId)).toEqual([event.id]);
    expect(await claim()).toEqual([]);
    await bench.wakeUntil(() => bench.receiver.received.length === 1);
    await bench.wakeUntil(async () =>
      (await bench.logOf(id)).some(({ attempt, delivered }) => attempt === 2 && delivered),
    );
  });

  it('check the address again on each connect, and send nothing to a forbidden one', async () => {
    await bench.deliveries.stop();
    bench.start({ attemptMs: 3_000 }, []);
    const { id } = await bench.makeWebhook();
    const { port } = new URL(bench.receiver.origin);
    const named = await bench.registry.webhooks.create(
      { url: `http://localhost:${port}/`, types: ['*'], enabled: true, secret: 's' },
      { webhooksMax: 9, at: Date.now() },
    );
    bench.append();
    for (const webhook of [id, named?.id ?? '']) {
      await bench.wakeUntil(async () => (await bench.logOf(webhook)).length > 0);
      expect((await bench.logOf(webhook))[0]).toMatchObject({
        delivered: false,
        status: undefined,
        error: expect.stringContaining('URL_FORBIDDEN'),
      });
    }
    expect(bench.receiver.received).toEqual([]);
  });
});
