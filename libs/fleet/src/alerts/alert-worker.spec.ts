/**
 * Rules, alerts and their messages over a real database, with a manual clock and real receivers.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AlertRow, AlertRulePlan, AlertRuleRow } from '@flotilla/registry';
import { admin, deviceNames, openHub, silent, startJob } from '../fleet-fixture.suite.js';
import type { HubFixture, HubProcess } from '../fleet-fixture.suite.js';
import { openReceiver } from '../webhooks/receiver.suite.js';
import type { Receiver } from '../webhooks/receiver.suite.js';
import { AlertWorker, pauseAfter } from './alert-worker.js';
import { Alerts } from './alerts.js';
import { ChannelSender } from './channels/channel-sender.js';

const messages = { language: 'en', timeZone: 'UTC', consoleUrl: 'https://hub.example' } as const;

it.each([
  ['an ordinary round', 100, 2_000],
  ['a long round', 3_000, 15_000],
  ['a round that PostgreSQL held up', 60_000, 30_000],
])('pauses after %s', (_, roundMs, pauseMs) => {
  expect(pauseAfter(roundMs, 2_000)).toBe(pauseMs);
});

describe('the worker of alerts', () => {
  let fixture: HubFixture;
  let hub: HubProcess;
  let receiver: Receiver;
  let sender: ChannelSender;
  let alerts: Alerts;
  let worker: AlertWorker;
  let channelId: string;
  const rules: AlertRuleRow[] = [];

  beforeAll(async () => {
    fixture = await openHub();
    hub = fixture.hub;
  });
  beforeEach(async () => {
    receiver = await openReceiver();
    sender = new ChannelSender({ trustedOrigins: [receiver.origin], smtp: undefined });
    const { registry, bus, clock } = hub;
    alerts = new Alerts({ registry, bus, clock, sender, trustedOrigins: [receiver.origin], messages });
    worker = openWorker();
    const config = { url: `${receiver.origin}/hook`, secret: 'of the channel' };
    const made = await alerts.createChannel({ name: randomUUID(), kind: 'WEBHOOK', config, enabled: true }, admin);
    if ('refusal' in made) throw new TypeError(made.refusal.message);
    channelId = made.channel.id;
  });
  afterEach(async () => {
    for (const { id } of rules.splice(0)) await alerts.removeRule(id, admin);
    await rounds(worker, 2);
    await worker.stop();
    await alerts.removeChannel(channelId, admin);
    await sender.close();
    await receiver.close();
  });
  afterAll(() => fixture.close());

  function openWorker(leaseId: string = hub.lease.id): AlertWorker {
    const { registry, bus, clock } = hub;
    return new AlertWorker({
      registry,
      bus,
      clock,
      sender,
      messages,
      timing: { graceMs: 60_000 },
      logger: silent,
      lease: { id: leaseId as HubProcess['lease']['id'] },
    });
  }

  /** Evaluations two seconds apart, each with its deliveries. */
  async function rounds(each: AlertWorker, count: number): Promise<void> {
    for (let left = count; left > 0; left -= 1) {
      hub.clock.advance(2_000);
      await each.run();
      await each.delivered();
    }
  }

  async function ruled(change: Partial<AlertRulePlan>): Promise<AlertRuleRow> {
    const plan: AlertRulePlan = {
      name: randomUUID(),
      kind: 'DEVICE_OFFLINE',
      devices: undefined,
      severity: 'WARNING',
      forSeconds: 10,
      threshold: undefined,
      path: undefined,
      below: false,
      windowSeconds: 600,
      groupAbove: 5,
      repeatEverySeconds: undefined,
      channelIds: [channelId],
      enabled: true,
      ...change,
    };
    const saved = await alerts.createRule(plan, admin);
    if ('refusal' in saved) throw new TypeError(saved.refusal.message);
    rules.push(saved.rule);
    return saved.rule;
  }

  const alertsOf = async ({ id }: AlertRuleRow): Promise<readonly AlertRow[]> =>
    (await hub.registry.alerts.page({ ruleId: id }, { first: 50 })).rows;
  const received = () => receiver.received.map(({ event }) => event);
  const types = () => received().map(({ type }) => type);

  it('sends one message for a device that stays offline, and one when it is back', async () => {
    const name = randomUUID();
    await hub.connect([name]);
    const rule = await ruled({ devices: { ids: [name] } });
    await rounds(worker, 3);
    expect(await alertsOf(rule)).toEqual([]);
    await hub.disconnect(name);
    // Ten seconds of the rule, and ten in which other devices may join.
    await rounds(worker, 9);
    expect(await alertsOf(rule)).toEqual([]);
    await rounds(worker, 2);
    const [alert] = await alertsOf(rule);
    expect(alert).toMatchObject({ deviceId: name, deviceCount: 1, isGroup: false, resolvedAt: undefined });
    expect(types()).toEqual(['alert.fired']);
    expect(received()[0]?.data).toMatchObject({
      alerts: [{ id: alert?.id, rule: rule.name, state: 'FIRING', deviceId: name }],
      url: `https://hub.example/alerts/${alert?.id}`,
    });
    await hub.connect([name]);
    await rounds(worker, 8);
    expect(types()).toEqual(['alert.fired', 'alert.resolved']);
    expect(String(received()[1]?.data['text'])).toContain('resolved');
    expect((await alertsOf(rule))[0]?.resolvedAt).toBeGreaterThan(alert?.firedAt ?? Infinity);
  });

  it('sends nothing for a device that returns in time, also if it drops again', async () => {
    const name = randomUUID();
    await hub.connect([name]);
    const rule = await ruled({ devices: { ids: [name] } });
    for (let turn = 0; turn < 4; turn += 1) {
      await hub.disconnect(name);
      await rounds(worker, 4);
      await hub.connect([name]);
      // No round: the worker sees it offline again without having seen it online.
      hub.clock.advance(100);
    }
    await hub.disconnect(name);
    await rounds(worker, 7);
    expect(await alertsOf(rule)).toEqual([]);
    expect(types()).toEqual([]);
  });

  it('sends one message for many devices that drop together, and one when all are back', async () => {
    const names = deviceNames(300, randomUUID());
    await hub.connect(names);
    const rule = await ruled({ devices: { ids: names } });
    await Promise.all(names.map((name) => hub.disconnect(name)));
    await rounds(worker, 14);
    expect(types()).toEqual(['alert.fired']);
    const [alert] = await alertsOf(rule);
    expect(alert).toMatchObject({ isGroup: true, deviceCount: 300, deviceId: undefined, facts: { total: 300 } });
    expect(String(received()[0]?.data['text'])).toContain('300 of 300 devices went offline');
    await hub.connect(names.slice(1));
    await rounds(worker, 10);
    expect(types()).toEqual(['alert.fired']);
    await hub.connect(names.slice(0, 1));
    await rounds(worker, 8);
    expect(types()).toEqual(['alert.fired', 'alert.resolved']);
  });

  it('continues in another process, and repeats a message whose end is not known', async () => {
    const name = randomUUID();
    await hub.connect([name]);
    await ruled({ devices: { ids: [name] } });
    await hub.disconnect(name);
    await rounds(worker, 8);
    // The other end gets the message, and the process dies before it knows.
    const outbox = hub.registry.notificationOutbox;
    await rounds(worker, 1);
    receiver.answer = (response) => void response.destroy();
    await rounds(worker, 3);
    expect(types()).toEqual(['alert.fired']);
    receiver.answer = (response) => response.writeHead(204).end();
    const next = openWorker();
    hub.clock.advance(15_000);
    await rounds(next, 3);
    await next.stop();
    const ids = received().map(({ id }) => id);
    expect(types()).toEqual(['alert.fired', 'alert.fired']);
    expect(new Set(ids).size).toBe(1);
    expect(await outbox.backlog(hub.clock.now())).toMatchObject({ pending: 0, failingChannels: 0 });
  });

  it('is one among several: another process evaluates only after the lease has ended', async () => {
    const other = randomUUID();
    const { alertEvaluation } = hub.registry;
    const now = hub.clock.now();
    await worker.run();
    expect(await alertEvaluation.take(hub.lease.id, now, 15_000)).toBe(true);
    // A process without a row in hub_process is dead, and takes over only what no living one has.
    expect(await alertEvaluation.take(other, now + 14_000, 15_000)).toBe(false);
    const rule = await ruled({ devices: { ids: ['unknown'] } });
    const hubStart = { startedAt: 0, graceMs: 0 };
    expect(await alertEvaluation.evaluate(other, rule, undefined, { hub: hubStart, now })).toBeUndefined();
    expect(await alertEvaluation.take(other, now + 15_001, 1)).toBe(true);
    expect(await alertEvaluation.take(hub.lease.id, now + 15_002, 15_000)).toBe(true);
  });

  it.each([undefined, 86_400])('repeats what fires already as its changed rule says, after %s', async (former) => {
    const name = randomUUID();
    await hub.connect([name]);
    const { id, ...plan } = await ruled({ devices: { ids: [name] }, repeatEverySeconds: former });
    await hub.disconnect(name);
    await rounds(worker, 15);
    expect(types()).toEqual(['alert.fired']);
    await alerts.updateRule(id, { ...plan, repeatEverySeconds: 60 }, admin);
    await rounds(worker, 10);
    expect(types()).toEqual(['alert.fired']);
    await rounds(worker, 20);
    expect(types()).toEqual(['alert.fired', 'alert.fired']);
  });

  it('repeats until the alert is acknowledged, and a snoozed rule sends nothing', async () => {
    const name = randomUUID();
    await hub.connect([name]);
    const rule = await ruled({ devices: { ids: [name] }, repeatEverySeconds: 60 });
    await hub.disconnect(name);
    await rounds(worker, 12 + 31);
    expect(types()).toEqual(['alert.fired', 'alert.fired']);
    const [alert] = await alertsOf(rule);
    expect(await alerts.acknowledge(alert?.id ?? '', 'on my way', admin)).toMatchObject({
      alert: { acknowledgedBy: 'admin', note: 'on my way' },
    });
    await rounds(worker, 31);
    expect(types()).toHaveLength(2);
    await alerts.snoozeRule(rule.id, undefined, hub.clock.now() + 3_600_000, admin);
    await hub.connect([name]);
    await rounds(worker, 8);
    expect((await alertsOf(rule))[0]?.resolvedAt).toBeDefined();
    expect(types()).toHaveLength(2);
  });

  it('sends a message for a device that joins a group of snoozed devices', async () => {
    const [one = '', other = '', last = ''] = deviceNames(3, randomUUID());
    await hub.connect([one, other, last]);
    const rule = await ruled({ devices: { ids: [one, other, last] }, groupAbove: 1 });
    for (const name of [one, other]) await alerts.snoozeRule(rule.id, name, hub.clock.now() + 3_600_000, admin);
    await hub.disconnect(one);
    await hub.disconnect(other);
    await rounds(worker, 12);
    expect(await alertsOf(rule)).toMatchObject([{ isGroup: true, deviceCount: 2 }]);
    expect(types()).toEqual([]);
    await hub.disconnect(last);
    await rounds(worker, 7);
    expect(await alertsOf(rule)).toMatchObject([{ isGroup: true, deviceCount: 3 }]);
    expect(types()).toEqual(['alert.fired']);
    await hub.connect([one, other, last]);
    await rounds(worker, 8);
    expect(types()).toEqual(['alert.fired', 'alert.resolved']);
  });

  it('resolves what fires when its rule is disabled or deleted', async () => {
    const name = randomUUID();
    await hub.connect([name]);
    const rule = await ruled({ devices: { ids: [name] } });
    await hub.disconnect(name);
    await rounds(worker, 12);
    expect(types()).toEqual(['alert.fired']);
    await alerts.removeRule(rule.id, admin);
    await rounds(worker, 2);
    expect(types()).toEqual(['alert.fired', 'alert.resolved']);
  });

  it('resolves what fires when the device group of its rule is deleted', async () => {
    const name = randomUUID();
    await hub.connect([name]);
    const { deviceGroups } = hub.registry;
    const change = { groupsMax: 9, at: hub.clock.now(), by: { actor: 'spec' } };
    const plan = { name, filter: { ids: [name] }, timeZone: undefined, voiceUrls: [] };
    const made = await deviceGroups.create(plan, change);
    if (made.kind !== 'saved') throw new TypeError(made.kind);
    await ruled({ devices: { groupId: made.group.id } });
    await hub.disconnect(name);
    await rounds(worker, 12);
    expect(types()).toEqual(['alert.fired']);
    await deviceGroups.remove(made.group.id, change);
    await rounds(worker, 2);
    expect(types()).toEqual(['alert.fired', 'alert.resolved']);
  });

  it('keeps what a failing channel has not received, and never resolves what it has not heard of', async () => {
    const names = deviceNames(2, randomUUID());
    await hub.connect(names);
    await ruled({ devices: { ids: names } });
    receiver.answer = (response) => response.writeHead(500).end('no');
    await Promise.all(names.map((name) => hub.disconnect(name)));
    await rounds(worker, 12);
    expect(await hub.registry.notificationChannels.find(channelId)).toMatchObject({
      lastError: 'The other end answered 500.',
    });
    await hub.connect(names);
    await rounds(worker, 8);
    expect(types().every((type) => type === 'alert.fired')).toBe(true);
    receiver.answer = (response) => response.writeHead(204).end();
    const before = receiver.received.length;
    await rounds(worker, 30);
    expect(types().slice(before)).toEqual(['alert.fired', 'alert.resolved']);
    expect((received()[before]?.data['alerts'] as unknown[]).length).toBe(2);
    expect(await hub.registry.notificationChannels.find(channelId)).toMatchObject({ lastError: undefined });
  });

  it('fires for a job that an abort rule stopped, and for a failing share of calls', async () => {
    const names = deviceNames(6, randomUUID());
    await hub.connect(names);
    const stopped = await ruled({ kind: 'JOB_STOPPED', forSeconds: 0 });
    const ratio = await ruled({ kind: 'CALL_FAILURE_RATIO', forSeconds: 0, threshold: 0.5, devices: { ids: names } });
    const former = hub.gateway.behave;
    const error = { code: 'DEVICE_ERROR', message: 'no' } as const;
    hub.gateway.behave = (_call, settle) => settle({ kind: 'FAILED', certainty: 'YES', error });
    // Fewer than five calls say nothing about a share.
    const abort = [{ outcomes: ['FAILED'], scope: 'JOB', count: 5, action: 'PAUSE' }] as const;
    const jobId = await startJob(hub, names, { abort, maxInFlight: 1 });
    await hub.clock.until(async () => (await hub.job(jobId)).state).toBe('PAUSED');
    hub.gateway.behave = former;
    await rounds(worker, 2);
    expect(await alertsOf(stopped)).toMatchObject([{ deviceCount: 0, facts: { jobId, reason: 'abort rule' } }]);
    expect(await alertsOf(ratio)).toMatchObject([{ facts: { value: 1 } }]);
  });

  it('fires for a share of the fleet, and not for what the stop of the hub disconnected', async () => {
    const names = deviceNames(10, randomUUID());
    await hub.connect(names);
    const plan = { kind: 'FLEET_OFFLINE_SHARE', threshold: 0.3, forSeconds: 4, devices: { ids: names } } as const;
    const rule = await ruled(plan);
    await Promise.all(names.slice(0, 2).map((name) => hub.disconnect(name)));
    await rounds(worker, 6);
    expect(await alertsOf(rule)).toEqual([]);
    await hub.disconnect(names[2] ?? '');
    await rounds(worker, 6);
    expect(await alertsOf(rule)).toMatchObject([{ facts: { value: 0.3, total: 10, threshold: 0.3 } }]);
  });

  it('fires for a value below the threshold, until the device reports another', async () => {
    const [low = '', high = ''] = deviceNames(2, randomUUID());
    await hub.connect([low, high]);
    const path = 'self.get_device_status:battery.level';
    const { measurements } = hub.registry;
    const report = async (deviceId: string, value: number) => {
      measurements.add({ deviceId, path, at: hub.clock.now(), value, ruleId: 'spec' });
      const latest = async () => (await measurements.latestOf([deviceId])).get(deviceId)?.[0]?.value;
      await expect.poll(latest).toBe(value);
    };
    const limit = { path, threshold: 20, below: true, forSeconds: 4, devices: { ids: [low, high] } };
    const rule = await ruled({ kind: 'MEASUREMENT', ...limit });
    await report(low, 12);
    await report(high, 20);
    await rounds(worker, 10);
    expect(await alertsOf(rule)).toMatchObject([{ deviceId: low, deviceCount: 1, facts: { value: 12, path } }]);
    expect(String(received()[0]?.data['text'])).toContain(`${path} is below 20 (12)`);
    await report(low, 60);
    await rounds(worker, 4);
    expect(types()).toEqual(['alert.fired', 'alert.resolved']);
  });

  it('has thresholds below zero for values only: a freezer is too warm above -18.5', async () => {
    const [warm = '', cold = ''] = deviceNames(2, randomUUID());
    await hub.connect([warm, cold]);
    const path = 'self.get_device_status:freezer.temperature';
    const { measurements } = hub.registry;
    const report = (deviceId: string, value: number) =>
      measurements.add({ deviceId, path, at: hub.clock.now(), value, ruleId: 'spec' });
    const limit = { path, threshold: -18.5, forSeconds: 4, devices: { ids: [warm, cold] } };
    const rule = await ruled({ kind: 'MEASUREMENT', ...limit });
    report(warm, -12.25);
    report(cold, -21);
    await expect.poll(async () => (await measurements.latestOver({ filter: {}, path })).length).toBe(2);
    await rounds(worker, 10);
    expect(await alertsOf(rule)).toMatchObject([{ deviceId: warm, facts: { value: -12.25, threshold: -18.5 } }]);
    expect(String(received()[0]?.data['text'])).toContain(`${path} is above -18.5 (-12.25)`);
    for (const kind of ['FLEET_OFFLINE_SHARE', 'CALL_FAILURE_RATIO', 'UNEXPECTED_RESTARTS'] as const)
      await expect(ruled({ kind, threshold: -0.1 })).rejects.toThrow('A threshold is 0 or more.');
  });

  it('forgets a value of a device that was away for a day, and keeps that of one that is online', async () => {
    const [online = '', away = ''] = deviceNames(2, randomUUID());
    await hub.connect([online, away]);
    const path = 'self.get_device_status:chip.temperature';
    const { measurements } = hub.registry;
    const at = hub.clock.now();
    for (const deviceId of [online, away]) measurements.add({ deviceId, path, at, value: 90, ruleId: 'spec' });
    await expect.poll(async () => (await measurements.latestOver({ filter: {}, path })).length).toBe(2);
    await hub.disconnect(away);
    const over = async (now: number) =>
      (await measurements.latestOver({ filter: {}, path, above: 80, since: at, seenSince: now })).map(
        ({ deviceId }) => deviceId,
      );
    expect(await over(at)).toEqual([online, away].sort());
    expect(await over(hub.clock.now() + 1)).toEqual([online]);
  });
});
