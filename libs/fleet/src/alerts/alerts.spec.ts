import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AlertRulePlan } from '@flotilla/registry';
import { admin, openHub } from '../fleet-fixture.suite.js';
import type { HubFixture } from '../fleet-fixture.suite.js';
import { Alerts } from './alerts.js';

const plan: AlertRulePlan = {
  name: 'Offline',
  kind: 'DEVICE_OFFLINE',
  devices: undefined,
  severity: 'WARNING',
  forSeconds: 300,
  threshold: undefined,
  path: undefined,
  below: false,
  windowSeconds: 600,
  groupAbove: 5,
  repeatEverySeconds: undefined,
  channelIds: [],
  enabled: true,
};

describe('changing alert rules and channels', () => {
  let fixture: HubFixture;
  let alerts: Alerts;
  let sender: { readonly send: () => Promise<never>; sendsMail: boolean };

  beforeAll(async () => {
    fixture = await openHub({ withWorker: false });
    const { registry, bus, clock } = fixture.hub;
    sender = { send: () => Promise.reject(new Error('No message is expected.')), sendsMail: true };
    const messages = { language: 'en', timeZone: 'UTC', consoleUrl: 'https://hub.example' } as const;
    alerts = new Alerts({ registry, bus, clock, sender, trustedOrigins: [], messages });
  });
  afterAll(() => fixture.close());

  it('refuses a change of another revision than it was made from', async () => {
    const made = await alerts.createRule(plan, admin);
    if ('refusal' in made) throw new TypeError(made.refusal.message);
    const { id, revision } = made.rule;
    const edit = (forSeconds: number, expected?: string) =>
      alerts.updateRule(id, { ...plan, forSeconds }, admin, expected);
    await fixture.hub.clock.advance(1);
    expect(await edit(60, revision)).toMatchObject({ rule: { forSeconds: 60 } });
    expect(await edit(90, revision)).toMatchObject({ refusal: { code: 'CONFLICT', path: ['expectedRevision'] } });
    expect(await fixture.hub.registry.alertRules.find(id)).toMatchObject({ forSeconds: 60 });
    expect(await edit(120)).toMatchObject({ rule: { forSeconds: 120 } });
  });

  it('refuses a channel for e-mail of a hub without a mail server, unless it is disabled', async () => {
    const channel = { name: 'Mail', kind: 'EMAIL', config: { to: ['ops@hub.example'] }, enabled: true } as const;
    sender.sendsMail = false;
    const refusal = { code: 'INVALID', path: ['input', 'kind'], message: expect.stringContaining('FLOTILLA_SMTP_URL') };
    expect(await alerts.createChannel(channel, admin)).toMatchObject({ refusal });
    const made = await alerts.createChannel({ ...channel, enabled: false }, admin);
    if ('refusal' in made) throw new TypeError(made.refusal.message);
    expect(await alerts.updateChannel(made.channel.id, channel, admin)).toMatchObject({ refusal });
    sender.sendsMail = true;
    expect(await alerts.updateChannel(made.channel.id, channel, admin)).toMatchObject({ channel: { enabled: true } });
    await alerts.removeChannel(made.channel.id, admin);
  });

  it('refuses a change of a channel of another revision than it was made from', async () => {
    const config = { to: ['shift@hub.example'] };
    const channel = { name: 'Shift', kind: 'EMAIL', config, enabled: true } as const;
    const made = await alerts.createChannel(channel, admin);
    if ('refusal' in made) throw new TypeError(made.refusal.message);
    const { id, revision } = made.channel;
    const edit = (name: string, expected?: string) => alerts.updateChannel(id, { ...channel, name }, admin, expected);
    await fixture.hub.clock.advance(1);
    expect(await edit('Night', revision)).toMatchObject({ channel: { name: 'Night' } });
    expect(await edit('Day', revision)).toMatchObject({ refusal: { code: 'CONFLICT', path: ['expectedRevision'] } });
    expect(await fixture.hub.registry.notificationChannels.find(id)).toMatchObject({ name: 'Night' });
    expect(await edit('Day')).toMatchObject({ channel: { name: 'Day' } });
  });

  it.each(['SLACK', 'WECOM'] as const)('refuses a secret for a channel of %s, which signs nothing', async (kind) => {
    const config = { url: 'https://93.184.215.14/hook' };
    const request = { name: `Room ${kind}`, kind, config, enabled: true };
    const refusal = { code: 'INVALID', path: ['input', 'config', 'secret'] };
    const signed = { ...request, config: { ...config, secret: 's' } };
    expect(await alerts.createChannel(signed, admin)).toMatchObject({ refusal });
    const made = await alerts.createChannel(request, admin);
    if ('refusal' in made) throw new TypeError(made.refusal.message);
    expect(await alerts.updateChannel(made.channel.id, signed, admin)).toMatchObject({ refusal });
  });

  it('edits a channel that has such a secret from before, and drops it', async () => {
    const { notificationChannels } = fixture.hub.registry;
    const config = { url: 'https://93.184.215.14/hook', secret: 's' };
    const shown = { url: 'https://93.184.215.14/***', secret: '***' };
    const by = { actor: 'spec', remoteAddress: undefined };
    const made = await notificationChannels.create(
      { name: 'Old room', kind: 'SLACK', enabled: true, config, shown },
      { channelsMax: 9, at: fixture.hub.clock.now(), by },
    );
    if (made.kind !== 'saved') throw new TypeError(made.kind);
    const { id } = made.channel;
    const renamed = { name: 'Room', kind: 'SLACK', enabled: false, config: shown } as const;
    expect(await alerts.updateChannel(id, renamed, admin)).toMatchObject({ channel: { name: 'Room', enabled: false } });
    expect(await notificationChannels.configOf(id)).toEqual({ url: config.url });
  });

  it('does not take a snooze for a change', async () => {
    const made = await alerts.createRule({ ...plan, name: 'Snoozed' }, admin);
    if ('refusal' in made) throw new TypeError(made.refusal.message);
    const { id, revision } = made.rule;
    await fixture.hub.clock.advance(1);
    await alerts.snoozeRule(id, undefined, fixture.hub.clock.now() + 60_000, admin);
    expect(await alerts.updateRule(id, { ...plan, name: 'Snoozed' }, admin, revision)).toMatchObject({ rule: { id } });
  });

  it('lets a limited key snooze one device only', async () => {
    const made = await alerts.createRule({ ...plan, name: 'For all' }, admin);
    if ('refusal' in made) throw new TypeError(made.refusal.message);
    const until = fixture.hub.clock.now() + 60_000;
    expect(
      await alerts.snoozeRule(made.rule.id, undefined, until, { ...admin, devices: { ids: ['a'] } }),
    ).toMatchObject({
      refusal: { code: 'INVALID', path: ['deviceId'] },
    });
  });

  it('refuses it after a channel was added to the rule, or taken from it', async () => {
    const config = { url: 'https://chat.example/hook' };
    const channel = await alerts.createChannel({ name: 'Hook', kind: 'WEBHOOK', config, enabled: true }, admin);
    if ('refusal' in channel) throw new TypeError(channel.refusal.message);
    const named = { ...plan, name: 'To the channel', channelIds: [channel.channel.id] };
    const made = await alerts.createRule(named, admin);
    if ('refusal' in made) throw new TypeError(made.refusal.message);
    await alerts.removeChannel(channel.channel.id, admin);
    const edit = { ...named, channelIds: [], forSeconds: 60 };
    expect(await alerts.updateRule(made.rule.id, edit, admin, made.rule.revision)).toMatchObject({
      refusal: { code: 'CONFLICT', path: ['expectedRevision'] },
    });
  });
});
