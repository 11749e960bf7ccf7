/**
 * Alerts over the built hub with real receivers: one message per channel when many devices drop,
 * and none for a restart of the hub by `kill -9`. [docs/alerts.md]
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../src/api/graphql-client.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { eventually } from '../src/eventually.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { MessageReceivers } from '../src/hub/message-receivers.js';
import { metric } from '../src/hub/metrics.js';
import { online } from '../src/jobs/job-api.js';

const isLong = process.env['FLOTILLA_TEST_LONG'] === '1';
const DEVICES = isLong ? 10_000 : 40;
/**
 * A message within this time of the end of the duration, ms; a busy machine needs more for the
 * rest.
 */
const SENT_WITHIN_MS = 60_000;
const SECRET = 'SECnever-shown';

const receivers = new MessageReceivers();
let hub: HubProcess;
let env: Record<string, string>;

beforeAll(async () => {
  await receivers.listen();
  receivers.answers.set('slack', 'ok');
  receivers.answers.set('dingtalk', '{"errcode":0,"errmsg":"ok"}');
  receivers.answers.set('feishu', '{"code":0,"msg":"success"}');
  receivers.answers.set('wecom', '{"errcode":0,"errmsg":"ok"}');
  receivers.answers.set('telegram', '{"ok":true}');
  env = {
    FLOTILLA_WEBHOOK_URLS: receivers.origin,
    FLOTILLA_PUBLIC_URL: 'https://hub.example',
    FLOTILLA_SMTP_URL: receivers.smtpUrl,
    FLOTILLA_SMTP_FROM: 'Flotilla <hub@example.com>',
  };
  hub = await startHub({ env });
  // The devices come back to the same address, as real ones do.
  env = { ...env, FLOTILLA_HTTP_PORT: String(hub.httpPort), FLOTILLA_MQTT_PORT: String(hub.mqttPort) };
});
afterAll(async () => {
  await hub.stop();
  await receivers.close();
  removeDataDir(hub.dataDir);
});

interface Payload {
  readonly userErrors: readonly { readonly message: string }[];
}

async function accepted<Result extends Payload>(query: string, variables: object): Promise<Result> {
  const data = await ask<Record<string, Result>>(hub, query, { ...variables });
  const [payload] = Object.values(data);
  expect(payload?.userErrors).toEqual([]);
  return payload as Result;
}

async function createChannel(name: string, kind: string, config: object): Promise<string> {
  const { notificationChannel } = await accepted<Payload & { notificationChannel: { id: string } }>(
    `mutation ($input: NotificationChannelInput!) {
      createNotificationChannel(input: $input) { notificationChannel { id } userErrors { message } } }`,
    { input: { name, kind, config } },
  );
  return notificationChannel.id;
}

async function createRule(input: object): Promise<string> {
  const { alertRule } = await accepted<Payload & { alertRule: { id: string } }>(
    'mutation ($input: AlertRuleInput!) { createAlertRule(input: $input) { alertRule { id } userErrors { message } } }',
    { input },
  );
  return alertRule.id;
}

interface AlertNode {
  readonly id: string;
  readonly state: 'FIRING' | 'RESOLVED';
  readonly deviceCount: number;
  readonly summary: string;
  readonly inChinese: string;
}

async function alertsOf(ruleId: string): Promise<readonly AlertNode[]> {
  const query = `query ($filter: AlertFilter) {
    alerts(filter: $filter, first: 200) { nodes { id state deviceCount summary
      inChinese: summary(language: ZH) } } }`;
  return (await ask<{ alerts: { nodes: AlertNode[] } }>(hub, query, { filter: { ruleId } })).alerts.nodes;
}

/** `kill -9`, and the hub again on the same database and ports. */
async function restart(): Promise<void> {
  await hub.kill();
  hub = await startHub({ env, dataDir: hub.dataDir });
}

describe('alerts', () => {
  const channels = new Map<string, string>();

  it('come with rules that are disabled, and that the first channel enables', async () => {
    const query = '{ alertRules { name kind enabled channels { id } } }';
    const rules = async () =>
      (await ask<{ alertRules: { enabled: boolean; channels: unknown[] }[] }>(hub, query)).alertRules;
    expect((await rules()).map(({ enabled }) => enabled)).toEqual(Array.from({ length: 6 }, () => false));
    channels.set('mail', await createChannel('Mail', 'EMAIL', { to: ['ops@example.com'] }));
    expect((await rules()).every(({ channels: own, enabled }) => enabled && own.length === 1)).toBe(true);
    // The story has its own rules.
    const { alertRules } = await ask<{ alertRules: { id: string }[] }>(hub, '{ alertRules { id } }');
    for (const { id } of alertRules)
      await accepted('mutation ($id: ID!) { deleteAlertRule(id: $id) { userErrors { message } } }', { id });
  });

  it('have thresholds below zero for measurements, and for nothing else', async () => {
    const input = { name: 'Freezer', kind: 'MEASUREMENT', threshold: -18.5, path: 'samples:freezer', channelIds: [] };
    const id = await createRule(input);
    const { alertRules } = await ask<{ alertRules: object[] }>(hub, '{ alertRules { id threshold below } }');
    expect(alertRules).toEqual([{ id, threshold: -18.5, below: false }]);
    const query = `mutation ($input: AlertRuleInput!) {
      createAlertRule(input: $input) { userErrors { code path } } }`;
    const share = { name: 'Share', kind: 'FLEET_OFFLINE_SHARE', threshold: -0.1, channelIds: [] };
    expect(await ask(hub, query, { input: share })).toEqual({
      createAlertRule: { userErrors: [{ code: 'INVALID', path: ['input', 'threshold'] }] },
    });
    await accepted('mutation ($id: ID!) { deleteAlertRule(id: $id) { userErrors { message } } }', { id });
  });

  it('send a test to each kind of channel, and show what the other end answered', async () => {
    const url = (name: string) => `${receivers.origin}/${name}/token-${SECRET}`;
    channels.set('slack', await createChannel('Slack', 'SLACK', { url: url('slack') }));
    channels.set('dingtalk', await createChannel('DingTalk', 'DINGTALK', { url: url('dingtalk'), secret: SECRET }));
    channels.set('feishu', await createChannel('Feishu', 'FEISHU', { url: url('feishu'), secret: SECRET }));
    channels.set('wecom', await createChannel('WeCom', 'WECOM', { url: url('wecom') }));
    channels.set('webhook', await createChannel('Webhook', 'WEBHOOK', { url: url('webhook'), secret: SECRET }));
    const telegram = { token: `1:${SECRET}`, chatId: '-100', url: `${receivers.origin}/telegram` };
    channels.set('telegram', await createChannel('Telegram', 'TELEGRAM', telegram));
    const query = `mutation ($id: ID!) {
      testNotificationChannel(id: $id) { delivered status response userErrors { message } } }`;
    for (const [name, id] of channels) {
      const answer = await accepted<Payload & { delivered: boolean }>(query, { id });
      expect(answer, name).toMatchObject({ delivered: true });
      expect(receivers.of(name), name).toHaveLength(1);
    }
    receivers.answers.set('dingtalk', '{"errcode":310000,"errmsg":"sign not match"}');
    expect(await accepted(query, { id: channels.get('dingtalk') })).toMatchObject({
      delivered: false,
      status: 200,
      response: '{"errcode":310000,"errmsg":"sign not match"}',
    });
    receivers.answers.set('dingtalk', '{"errcode":0,"errmsg":"ok"}');
    expect(receivers.of('dingtalk')[0]?.query.get('sign')).toMatch(/^[A-Za-z0-9+/]{43}=$/);
  });

  it('keep the secrets of channels out of answers, events, the audit trail and the log', async () => {
    const shown = await ask(hub, '{ notificationChannels { id name kind config lastError } }');
    const trail = await ask(hub, '{ auditEntries(first: 100) { nodes { action data } } }');
    const events = await ask(hub, '{ events(first: 100) { nodes { type data } } }');
    const all = JSON.stringify([shown, trail, events]) + hub.log();
    expect(all).toContain('notification_channel.tested');
    expect(all).not.toContain(SECRET);
  });

  it('send one message per channel when all devices drop, none for a restart, and one when they are back', async () => {
    let fleet: SimulatedFleet = startFleet(hub, { devices: DEVICES, seed: 20 });
    await online(hub, DEVICES);
    const rule = await createRule({
      name: 'Offline',
      kind: 'DEVICE_OFFLINE',
      forSeconds: 3,
      groupAbove: 5,
      channelIds: [...channels.values()],
    });
    const before = receivers.received.length;
    const since = () => receivers.received.slice(before);
    await fleet.stop();
    await eventually(
      async () => since().length,
      (count) => count >= channels.size,
      SENT_WITHIN_MS,
    );
    expect(await alertsOf(rule)).toMatchObject([{ state: 'FIRING', deviceCount: DEVICES }]);
    // A message whose answer the hub could not record comes again, which other tests show.
    await eventually(
      () => metric(hub, 'flotilla_notifications_pending'),
      (pending) => pending === 0,
    );
    await restart();
    // Longer than the wait for a group, two rounds and the pace of a channel.
    await pause(20_000);
    expect(
      since()
        .map(({ channel }) => channel)
        .sort(),
    ).toEqual([...channels.keys()].sort());
    expect(since().every(({ text }) => /went offline|=C2|offline/.test(text))).toBe(true);
    fleet = startFleet(hub, { devices: DEVICES, seed: 20 });
    await online(hub, DEVICES);
    await eventually(
      async () => since().length,
      (count) => count >= 2 * channels.size,
      SENT_WITHIN_MS,
    );
    await pause(5_000);
    expect(since()).toHaveLength(2 * channels.size);
    expect(
      since()
        .slice(channels.size)
        .every(({ text }) => /resolved/i.test(text)),
    ).toBe(true);
    expect(await alertsOf(rule)).toMatchObject([{ state: 'RESOLVED' }]);
    await fleet.stop();
    await accepted('mutation ($id: ID!) { deleteAlertRule(id: $id) { userErrors { message } } }', { id: rule });
  });

  it('fire for a device that differs from its desired state, until it is in sync', async () => {
    const fleet = startFleet(hub, { devices: 2, seed: 21 });
    await online(hub, 2);
    const { devices } = await ask<{ devices: { nodes: { id: string }[] } }>(
      hub,
      '{ devices(filter: { presence: ONLINE }) { nodes { id } } }',
    );
    const ids = devices.nodes.map(({ id }) => id);
    const [quiet = ''] = ids;
    const tool = 'self.audio_speaker.set_volume';
    const set = (deviceId: string, volume: number) =>
      accepted(
        'mutation ($input: CallToolInput!) { callTool(input: $input) { call { outcome } userErrors { message } } }',
        { input: { deviceId, tool, arguments: { volume } } },
      );
    await Promise.all(ids.map((id) => set(id, id === quiet ? 3 : 40)));
    await accepted(
      `mutation ($input: DesiredStateInput!) {
        createDesiredState(input: $input, idempotencyKey: "quiet") { userErrors { message } } }`,
      { input: { name: 'Volume 40', tool, arguments: { volume: 40 }, mode: 'REPORT', devices: { ids } } },
    );
    // Until its value is read, a device is APPLYING, which a rule without a duration would name.
    await eventually(
      () =>
        ask<{ desiredStates: { nodes: { summary: { drifted: number } }[] } }>(
          hub,
          '{ desiredStates { nodes { summary { drifted } } } }',
        ),
      ({ desiredStates }) => desiredStates.nodes[0]?.summary.drifted === 1,
    );
    const rule = await createRule({
      name: 'Out of sync',
      kind: 'DESIRED_STATE_OUT_OF_SYNC',
      forSeconds: 0,
      devices: { ids },
      channelIds: [],
    });
    const stateIs = (state: AlertNode['state']) =>
      eventually(
        () => alertsOf(rule),
        ([alert]) => alert?.state === state,
        SENT_WITHIN_MS,
      );
    const alerts = await stateIs('FIRING');
    const inChinese: unknown = expect.stringContaining('未达到期望状态');
    expect(alerts).toMatchObject([
      { deviceCount: 1, summary: expect.stringContaining('Volume 40 (DRIFTED)'), inChinese },
    ]);
    await set(quiet, 40);
    await stateIs('RESOLVED');
    await fleet.stop();
  });
});
