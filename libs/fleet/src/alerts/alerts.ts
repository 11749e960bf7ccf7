/** Changes alert rules and channels, acknowledges alerts, snoozes rules, and tests channels. */
import { randomUUID } from 'node:crypto';
import type { Bus } from '@flotilla/bus';
import { countAlerts, planChart, testMessage } from '@flotilla/signals';
import type { SeriesLevel } from '@flotilla/signals';
import type {
  AlertRow,
  AlertRulePlan,
  AlertRuleRow,
  ChannelAnswer,
  ChannelKind,
  ChannelRow,
  Registry,
  RuleAnswer,
} from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import { sourceOf } from '../actor.js';
import type { Actor } from '../actor.js';
import { changedMeanwhile, noSuchDevice, refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';
import { refuseUrl } from '../webhooks/webhook-request.js';
import { alertTiming } from './alert-worker.js';
import { canSnoozeDevice, refuseName, refuseRule, rulesMax } from './alert-request.js';
import type { ChannelSender, SendResult } from './channels/channel-sender.js';
import {
  plainConfig,
  readSettings,
  refuseUnusedSecret,
  refuseWithoutMail,
  shownConfig,
  withFormerSecrets,
  withoutUnusedSecret,
} from './channels/channel-settings.js';
import type { ReadSettings } from './channels/channel-settings.js';
import type { MessageSettings } from './notification-deliveries.js';

interface AlertsDeps {
  readonly registry: Pick<
    Registry,
    'alertEvaluation' | 'alertRules' | 'alerts' | 'deviceGroups' | 'measurements' | 'notificationChannels' | 'viewFor'
  >;
  readonly bus: Pick<Bus, 'feed'>;
  readonly clock: Clock;
  readonly sender: Pick<ChannelSender, 'send' | 'sendsMail'>;
  /** Origins of channels that may be anywhere. */
  readonly trustedOrigins: readonly string[];
  readonly messages: MessageSettings;
}

export interface ChannelRequestInput {
  readonly name: string;
  readonly kind: ChannelKind;
  readonly config: unknown;
  readonly enabled: boolean;
}

export type SavedAlertRule = { readonly rule: AlertRuleRow } | { readonly refusal: Refusal };
export type SavedChannel = { readonly channel: ChannelRow } | { readonly refusal: Refusal };
type AcknowledgedAlert = { readonly alert: AlertRow } | { readonly refusal: Refusal };
interface RulePreview {
  /** Ms since the Unix epoch. */
  readonly since: number;
  /** Undefined where there are no records of it. */
  readonly firedCount: number | undefined;
  readonly note: string | undefined;
}
type PreviewedRule = { readonly preview: RulePreview } | { readonly refusal: Refusal };
type TestedChannel = { readonly result: SendResult } | { readonly refusal: Refusal };

const channelsMax = 50;
/** The past of a preview, ms. */
const PREVIEW_MS = 7 * 86_400_000;
/** Intervals below an hour, so that single values are read where possible. */
const PREVIEW_POINTS = 1_000;
/** Values that a preview reads, as many as a chart of a fleet: it is asked while a person types. */
const PREVIEW_VALUES_MAX = 400_000;
const NOTE_CHARACTERS_MAX = 1_000;
/** A longer silence is a rule that should be disabled, ms. */
const SNOOZE_MS_MAX = 366 * 86_400_000;

export class Alerts {
  readonly #trusted: ReadonlySet<string>;

  constructor(private readonly deps: AlertsDeps) {
    this.#trusted = new Set(deps.trustedOrigins);
  }

  /** How the texts of alerts are written. */
  get messages(): MessageSettings {
    return this.deps.messages;
  }

  async createRule(plan: AlertRulePlan, actor: Actor): Promise<SavedAlertRule> {
    const refusal = await refuseRule(this.deps.registry, plan);
    if (refusal !== undefined) return { refusal };
    return savedRule(await this.deps.registry.alertRules.create(plan, { rulesMax, ...this.#change(actor) }), plan);
  }

  /** How often the rule would have fired in the last seven days. Nothing is stored. */
  async previewRule(plan: AlertRulePlan): Promise<PreviewedRule> {
    const refusal = await refuseRule(this.deps.registry, plan);
    if (refusal !== undefined) return { refusal };
    const { clock, registry } = this.deps;
    const now = clock.now();
    const since = now - PREVIEW_MS;
    const { graceMs } = alertTiming;
    const level = await this.#historyLevel(plan, since, now);
    const times = await registry.alertEvaluation.firingTimes({ plan, since, now, graceMs, level });
    if (times === undefined) {
      const note = 'The hub keeps no history of this, so it does not know how often the rule would have fired.';
      return { preview: { since, firedCount: undefined, note } };
    }
    const note = level === 'RAW' ? undefined : 'Counted from the lowest and highest value of each hour or day.';
    return { preview: { since, firedCount: countAlerts(plan, times), note } };
  }

  /** Single values, unless there are too many of them, or they are no longer kept. */
  async #historyLevel({ kind, path }: AlertRulePlan, since: number, now: number): Promise<SeriesLevel> {
    if (kind !== 'MEASUREMENT') return 'RAW';
    const facts = await this.deps.registry.measurements.chartFacts(path);
    return planChart({ since, until: now, points: PREVIEW_POINTS }, { ...facts, valuesMax: PREVIEW_VALUES_MAX }).level;
  }

  /** Replaces all but the kind. Without an expected revision it replaces any. */
  async updateRule(id: string, plan: AlertRulePlan, actor: Actor, expectedRevision?: string): Promise<SavedAlertRule> {
    const refusal = await refuseRule(this.deps.registry, plan);
    if (refusal !== undefined) return { refusal };
    const change = { ...this.#change(actor), expectedRevision };
    return savedRule(await this.deps.registry.alertRules.update(id, plan, change), plan, id);
  }

  /** Its alerts stay; those that fire are resolved. */
  async removeRule(id: string, actor: Actor): Promise<{ readonly refusal?: Refusal }> {
    const isRemoved = await this.deps.registry.alertRules.remove(id, this.#change(actor));
    return isRemoved ? {} : { refusal: noSuchRule(id) };
  }

  /** A time in the past ends the snooze. */
  async snoozeRule(id: string, deviceId: string | undefined, until: number, actor: Actor): Promise<SavedAlertRule> {
    const { clock, registry } = this.deps;
    if (until > clock.now() + SNOOZE_MS_MAX)
      return { refusal: refuse('INVALID', ['until'], 'Snooze for at most a year, or disable the rule.') };
    if (deviceId === undefined && actor.devices !== undefined) {
      const message = 'This key is limited to some devices: name the device to snooze.';
      return { refusal: refuse('INVALID', ['deviceId'], message) };
    }
    const rule = await registry.alertRules.find(id);
    if (rule === undefined) return { refusal: noSuchRule(id) };
    if (deviceId !== undefined) {
      if (!canSnoozeDevice(rule.kind))
        return { refusal: refuse('INVALID', ['deviceId'], 'This rule is not about single devices: leave it out.') };
      const device = await registry.viewFor({ id: actor.id, devices: actor.devices }).devices.find(deviceId);
      if (device === undefined) return { refusal: noSuchDevice(deviceId.slice(0, 100), ['deviceId']) };
    }
    const snoozed = await registry.alertRules.snooze(id, deviceId, until, this.#change(actor));
    return snoozed === undefined ? { refusal: noSuchRule(id) } : { rule: snoozed };
  }

  async acknowledge(id: string, note: string | undefined, actor: Actor): Promise<AcknowledgedAlert> {
    if (note !== undefined && note.length > NOTE_CHARACTERS_MAX) {
      const message = `A note has at most ${NOTE_CHARACTERS_MAX} characters.`;
      return { refusal: refuse('LIMIT_EXCEEDED', ['note'], message) };
    }
    const { bus, registry } = this.deps;
    const answer = await registry.alerts.acknowledge(id, note, this.#change(actor), actor.devices);
    if (answer === undefined)
      return { refusal: refuse('NOT_FOUND', ['id'], `There is no alert "${id.slice(0, 100)}".`) };
    if (answer.event !== undefined) bus.feed.publish('event', answer.event);
    return { alert: answer.alert };
  }

  async createChannel(request: ChannelRequestInput, actor: Actor): Promise<SavedChannel> {
    const plan = await this.#channelPlan(request, request.config);
    if ('refusal' in plan) return plan;
    const change = { channelsMax, ...this.#change(actor) };
    return savedChannel(await this.deps.registry.notificationChannels.create(plan, change));
  }

  /** Secrets given as they are shown stay. Without an expected revision it replaces any. */
  async updateChannel(
    id: string,
    request: ChannelRequestInput,
    actor: Actor,
    expectedRevision?: string,
  ): Promise<SavedChannel> {
    const { notificationChannels } = this.deps.registry;
    const former = await notificationChannels.find(id);
    if (former === undefined) return { refusal: noSuchChannel(id) };
    const secrets = former.kind === request.kind ? await notificationChannels.configOf(id) : undefined;
    const given = withoutUnusedSecret(request.kind, request.config);
    const plan = await this.#channelPlan(request, withFormerSecrets(given, former.config, secrets));
    if ('refusal' in plan) return plan;
    const change = { ...this.#change(actor), expectedRevision };
    return savedChannel(await notificationChannels.update(id, plan, change), id);
  }

  async removeChannel(id: string, actor: Actor): Promise<{ readonly refusal?: Refusal }> {
    const isRemoved = await this.deps.registry.notificationChannels.remove(id, this.#change(actor));
    return isRemoved ? {} : { refusal: noSuchChannel(id) };
  }

  /**
   * Sends a test message now, also to a disabled channel. Resolves to what the other end answered.
   */
  async testChannel(id: string, actor: Actor): Promise<TestedChannel> {
    const { clock, messages, registry, sender } = this.deps;
    const channel = await registry.notificationChannels.find(id);
    if (channel === undefined) return { refusal: noSuchChannel(id) };
    const config = await registry.notificationChannels.configOf(id);
    if (config === undefined) {
      const message = 'Its settings were encrypted with another key. Save the channel again with its secrets.';
      return { refusal: refuse('CONFLICT', ['id'], message) };
    }
    const read = readSettings(channel.kind, config, ['id']);
    if ('refusal' in read) return read;
    const text = testMessage(messages, messages.consoleUrl);
    const message = { id: randomUUID(), type: 'alert.test', at: clock.now(), text, alerts: [] } as const;
    const result = await sender.send(read.settings, message, new AbortController().signal);
    await registry.notificationChannels.recordTest(channel, result.delivered, this.#change(actor));
    return { result };
  }

  async #channelPlan({ name, kind, enabled }: ChannelRequestInput, config: unknown) {
    const refusal = refuseName(name) ?? refuseWithoutMail({ kind, enabled }, this.deps.sender.sendsMail);
    if (refusal !== undefined) return { refusal };
    const path = ['input', 'config'];
    const read: ReadSettings = readSettings(kind, config, path);
    if ('refusal' in read) return read;
    const { settings } = read;
    const unused = refuseUnusedSecret(settings, path);
    if (unused !== undefined) return { refusal: unused };
    if (settings.kind !== 'EMAIL' && settings.url !== undefined) {
      const rules = { trustedOrigins: this.#trusted, clock: this.deps.clock };
      const refused = await refuseUrl(settings.url, [...path, 'url'], rules);
      if (refused !== undefined) return { refusal: refused };
    }
    return { name, kind, enabled, config: plainConfig(settings), shown: shownConfig(settings) };
  }

  #change(actor: Actor) {
    return { at: this.deps.clock.now(), by: sourceOf(actor) };
  }
}

function savedRule(answer: RuleAnswer, { kind }: AlertRulePlan, id = ''): SavedAlertRule {
  switch (answer.kind) {
    case 'saved':
      return { rule: answer.rule };
    case 'NOT_FOUND':
      return { refusal: noSuchRule(id) };
    case 'NAME_TAKEN':
      return { refusal: refuse('CONFLICT', ['input', 'name'], 'Another alert rule has this name.') };
    case 'OTHER_REVISION':
      return { refusal: changedMeanwhile('alert rule') };
    case 'OTHER_KIND': {
      const message = `The kind of a rule stays. Create another rule of the kind ${kind}, and delete this one.`;
      return { refusal: refuse('CONFLICT', ['input', 'kind'], message) };
    }
    case 'NO_CHANNEL': {
      const message = `There is no notification channel "${answer.id?.slice(0, 100) ?? ''}".`;
      return { refusal: refuse('NOT_FOUND', ['input', 'channelIds'], message) };
    }
    case 'FULL': {
      const message = `There are ${rulesMax} alert rules; delete one that is not needed.`;
      return { refusal: refuse('LIMIT_EXCEEDED', [], message) };
    }
  }
}

function savedChannel(answer: ChannelAnswer, id = ''): SavedChannel {
  switch (answer.kind) {
    case 'saved':
      return { channel: answer.channel };
    case 'NOT_FOUND':
      return { refusal: noSuchChannel(id) };
    case 'OTHER_REVISION':
      return { refusal: changedMeanwhile('notification channel') };
    case 'NAME_TAKEN':
      return { refusal: refuse('CONFLICT', ['input', 'name'], 'Another notification channel has this name.') };
    case 'FULL': {
      const message = `There are ${channelsMax} notification channels; delete one that is not needed.`;
      return { refusal: refuse('LIMIT_EXCEEDED', [], message) };
    }
  }
}

function noSuchRule(id: string): Refusal {
  return refuse('NOT_FOUND', ['id'], `There is no alert rule "${id.slice(0, 100)}".`);
}

function noSuchChannel(id: string): Refusal {
  return refuse('NOT_FOUND', ['id'], `There is no notification channel "${id.slice(0, 100)}".`);
}
