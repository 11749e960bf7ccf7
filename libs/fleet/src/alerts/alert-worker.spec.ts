/** When alerts fire, repeat and resolve, over a real database and to a real receiver. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { admin, deviceNames } from '../fleet-fixture.suite.js';
import { withAlertBench } from './alert-bench.suite.js';
import type { AlertBench } from './alert-bench.suite.js';
import { pauseAfter } from './alert-worker.js';

it.each([
  ['an ordinary round', 100, 2_000],
  ['a long round', 3_000, 15_000],
  ['a round that PostgreSQL held up', 60_000, 30_000],
])('pauses after %s', (_, roundMs, pauseMs) => {
  expect(pauseAfter(roundMs, 2_000)).toBe(pauseMs);
});

describe('the worker of alerts', () => {
  let bench: AlertBench;
  withAlertBench((opened) => (bench = opened));

  it('sends one message for a device that stays offline, and one when it is back', async () => {
    const name = randomUUID();
    await bench.hub.connect([name]);
    const rule = await bench.ruled({ devices: { ids: [name] } });
    await bench.rounds(bench.worker, 3);
    expect(await bench.alertsOf(rule)).toEqual([]);
    await bench.hub.disconnect(name);
    // Ten seconds of the rule, and ten in which other devices may join.
    await bench.rounds(bench.worker, 9);
    expect(await bench.alertsOf(rule)).toEqual([]);
    await bench.rounds(bench.worker, 2);
    const [alert] = await bench.alertsOf(rule);
    expect(alert).toMatchObject({ deviceId: name, deviceCount: 1, isGroup: false, resolvedAt: undefined });
    expect(bench.types()).toEqual(['alert.fired']);
    expect(bench.received()[0]?.data).toMatchObject({
      alerts: [{ id: alert?.id, rule: rule.name, state: 'FIRING', deviceId: name }],
      url: `https://hub.example/alerts/${alert?.id}`,
    });
    await bench.hub.connect([name]);
    await bench.rounds(bench.worker, 8);
    expect(bench.types()).toEqual(['alert.fired', 'alert.resolved']);
    expect(String(bench.received()[1]?.data['text'])).toContain('resolved');
    expect((await bench.alertsOf(rule))[0]?.resolvedAt).toBeGreaterThan(alert?.firedAt ?? Infinity);
  });

  it('sends nothing for a device that returns in time, also if it drops again', async () => {
    const name = randomUUID();
    await bench.hub.connect([name]);
    const rule = await bench.ruled({ devices: { ids: [name] } });
    for (let turn = 0; turn < 4; turn += 1) {
      await bench.hub.disconnect(name);
      await bench.rounds(bench.worker, 4);
      await bench.hub.connect([name]);
      // No round: the worker sees it offline again without having seen it online.
      bench.hub.clock.advance(100);
    }
    await bench.hub.disconnect(name);
    await bench.rounds(bench.worker, 7);
    expect(await bench.alertsOf(rule)).toEqual([]);
    expect(bench.types()).toEqual([]);
  });

  it('sends one message for many devices that drop together, and one when all are back', async () => {
    const names = deviceNames(300, randomUUID());
    await bench.hub.connect(names);
    const rule = await bench.ruled({ devices: { ids: names } });
    await Promise.all(names.map((name) => bench.hub.disconnect(name)));
    await bench.rounds(bench.worker, 14);
    expect(bench.types()).toEqual(['alert.fired']);
    const [alert] = await bench.alertsOf(rule);
    expect(alert).toMatchObject({ isGroup: true, deviceCount: 300, deviceId: undefined, facts: { total: 300 } });
    expect(String(bench.received()[0]?.data['text'])).toContain('300 of 300 devices went offline');
    await bench.hub.connect(names.slice(1));
    await bench.rounds(bench.worker, 10);
    expect(bench.types()).toEqual(['alert.fired']);
    await bench.hub.connect(names.slice(0, 1));
    await bench.rounds(bench.worker, 8);
    expect(bench.types()).toEqual(['alert.fired', 'alert.resolved']);
  });

  it('continues in another process, and repeats a message whose end is not known', async () => {
    const name = randomUUID();
    await bench.hub.connect([name]);
    await bench.ruled({ devices: { ids: [name] } });
    await bench.hub.disconnect(name);
    await bench.rounds(bench.worker, 8);
    // The other end gets the message, and the process dies before it knows.
    const outbox = bench.hub.registry.notificationOutbox;
    await bench.rounds(bench.worker, 1);
    bench.receiver.answer = (response) => void response.destroy();
    await bench.rounds(bench.worker, 3);
    expect(bench.types()).toEqual(['alert.fired']);
    bench.receiver.answer = (response) => response.writeHead(204).end();
    const next = bench.openWorker();
    bench.hub.clock.advance(15_000);
    await bench.rounds(next, 3);
    await next.stop();
    const ids = bench.received().map(({ id }) => id);
    expect(bench.types()).toEqual(['alert.fired', 'alert.fired']);
    expect(new Set(ids).size).toBe(1);
    expect(await outbox.backlog(bench.hub.clock.now())).toMatchObject({ pending: 0, failingChannels: 0 });
  });

  it('is one among several: another process evaluates only after the lease has ended', async () => {
    const other = randomUUID();
    const { alertEvaluation } = bench.hub.registry;
    const now = bench.hub.clock.now();
    await bench.worker.run();
    expect(await alertEvaluation.take(bench.hub.lease.id, now, 15_000)).toBe(true);
    // A process without a row in hub_process is dead, and takes over only what no living one has.
    expect(await alertEvaluation.take(other, now + 14_000, 15_000)).toBe(false);
    const rule = await bench.ruled({ devices: { ids: ['unknown'] } });
    const hubStart = { startedAt: 0, graceMs: 0 };
    expect(await alertEvaluation.evaluate(other, rule, undefined, { hub: hubStart, now })).toBeUndefined();
    expect(await alertEvaluation.take(other, now + 15_001, 1)).toBe(true);
    expect(await alertEvaluation.take(bench.hub.lease.id, now + 15_002, 15_000)).toBe(true);
  });

  it.each([undefined, 86_400])('repeats what fires already as its changed rule says, after %s', async (former) => {
    const name = randomUUID();
    await bench.hub.connect([name]);
    const { id, ...plan } = await bench.ruled({ devices: { ids: [name] }, repeatEverySeconds: former });
    await bench.hub.disconnect(name);
    await bench.rounds(bench.worker, 15);
    expect(bench.types()).toEqual(['alert.fired']);
    await bench.alerts.updateRule(id, { ...plan, repeatEverySeconds: 60 }, admin);
    await bench.rounds(bench.worker, 10);
    expect(bench.types()).toEqual(['alert.fired']);
    await bench.rounds(bench.worker, 20);
    expect(bench.types()).toEqual(['alert.fired', 'alert.fired']);
  });

  it('repeats until the alert is acknowledged, and a snoozed rule sends nothing', async () => {
    const name = randomUUID();
    await bench.hub.connect([name]);
    const rule = await bench.ruled({ devices: { ids: [name] }, repeatEverySeconds: 60 });
    await bench.hub.disconnect(name);
    await bench.rounds(bench.worker, 12 + 31);
    expect(bench.types()).toEqual(['alert.fired', 'alert.fired']);
    const [alert] = await bench.alertsOf(rule);
    expect(await bench.alerts.acknowledge(alert?.id ?? '', 'on my way', admin)).toMatchObject({
      alert: { acknowledgedBy: 'admin', note: 'on my way' },
    });
    await bench.rounds(bench.worker, 31);
    expect(bench.types()).toHaveLength(2);
    await bench.alerts.snoozeRule(rule.id, undefined, bench.hub.clock.now() + 3_600_000, admin);
    await bench.hub.connect([name]);
    await bench.rounds(bench.worker, 8);
    expect((await bench.alertsOf(rule))[0]?.resolvedAt).toBeDefined();
    expect(bench.types()).toHaveLength(2);
  });

  it('sends a message for a device that joins a group of snoozed devices', async () => {
    const [one = '', other = '', last = ''] = deviceNames(3, randomUUID());
    await bench.hub.connect([one, other, last]);
    const rule = await bench.ruled({ devices: { ids: [one, other, last] }, groupAbove: 1 });
    for (const name of [one, other])
      await bench.alerts.snoozeRule(rule.id, name, bench.hub.clock.now() + 3_600_000, admin);
    await bench.hub.disconnect(one);
    await bench.hub.disconnect(other);
    await bench.rounds(bench.worker, 12);
    expect(await bench.alertsOf(rule)).toMatchObject([{ isGroup: true, deviceCount: 2 }]);
    expect(bench.types()).toEqual([]);
    await bench.hub.disconnect(last);
    await bench.rounds(bench.worker, 7);
    expect(await bench.alertsOf(rule)).toMatchObject([{ isGroup: true, deviceCount: 3 }]);
    expect(bench.types()).toEqual(['alert.fired']);
    await bench.hub.connect([one, other, last]);
    await bench.rounds(bench.worker, 8);
    expect(bench.types()).toEqual(['alert.fired', 'alert.resolved']);
  });

  it('resolves what fires when its rule is disabled or deleted', async () => {
    const name = randomUUID();
    await bench.hub.connect([name]);
    const rule = await bench.ruled({ devices: { ids: [name] } });
    await bench.hub.disconnect(name);
    await bench.rounds(bench.worker, 12);
    expect(bench.types()).toEqual(['alert.fired']);
    await bench.alerts.removeRule(rule.id, admin);
    await bench.rounds(bench.worker, 2);
    expect(bench.types()).toEqual(['alert.fired', 'alert.resolved']);
  });

  it('resolves what fires when the device group of its rule is deleted', async () => {
    const name = randomUUID();
    await bench.hub.connect([name]);
    const { deviceGroups } = bench.hub.registry;
    const change = { groupsMax: 9, at: bench.hub.clock.now(), by: { actor: 'spec' } };
    const plan = { name, filter: { ids: [name] }, timeZone: undefined, voiceUrls: [] };
    const made = await deviceGroups.create(plan, change);
    if (made.kind !== 'saved') throw new TypeError(made.kind);
    await bench.ruled({ devices: { groupId: made.group.id } });
    await bench.hub.disconnect(name);
    await bench.rounds(bench.worker, 12);
    expect(bench.types()).toEqual(['alert.fired']);
    await deviceGroups.remove(made.group.id, change);
    await bench.rounds(bench.worker, 2);
    expect(bench.types()).toEqual(['alert.fired', 'alert.resolved']);
  });

  it('keeps what a failing channel has not received, and never resolves what it has not heard of', async () => {
    const names = deviceNames(2, randomUUID());
    await bench.hub.connect(names);
    await bench.ruled({ devices: { ids: names } });
    bench.receiver.answer = (response) => response.writeHead(500).end('no');
    await Promise.all(names.map((name) => bench.hub.disconnect(name)));
    await bench.rounds(bench.worker, 12);
    expect(await bench.hub.registry.notificationChannels.find(bench.channelId)).toMatchObject({
      lastError: 'The other end answered 500.',
    });
    await bench.hub.connect(names);
    await bench.rounds(bench.worker, 8);
    expect(bench.types().every((type) => type === 'alert.fired')).toBe(true);
    bench.receiver.answer = (response) => response.writeHead(204).end();
    const before = bench.receiver.received.length;
    await bench.rounds(bench.worker, 30);
    expect(bench.types().slice(before)).toEqual(['alert.fired', 'alert.resolved']);
    expect((bench.received()[before]?.data['alerts'] as unknown[]).length).toBe(2);
    expect(await bench.hub.registry.notificationChannels.find(bench.channelId)).toMatchObject({ lastError: undefined });
  });
});
