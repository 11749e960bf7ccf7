/**
 * Alerts, their rules and channels as callers of the stores see them. Times are ms since the Unix
 * epoch.
 */
import type { AlertKind, AlertSeverity, DescribedAlert, NotificationKind } from '@flotilla/signals';
import type { ChangeOrigin } from '../audit/audit-entry.js';
import type { DeviceFilter } from '../device-filter.js';

/** The part of a rule that people decide. */
export interface AlertRulePlan {
  readonly name: string;
  readonly kind: AlertKind;
  /** Undefined: the whole fleet, or not about devices. */
  readonly devices: DeviceFilter | undefined;
  readonly severity: AlertSeverity;
  readonly forSeconds: number;
  readonly threshold: number | undefined;
  readonly path: string | undefined;
  readonly below: boolean;
  readonly windowSeconds: number;
  readonly groupAbove: number;
  readonly repeatEverySeconds: number | undefined;
  readonly channelIds: readonly string[];
  readonly enabled: boolean;
}

export interface AlertRuleRow extends AlertRulePlan {
  readonly id: string;
  readonly snoozedUntil: number | undefined;
  readonly shippedAs: string | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly deletedAt: number | undefined;
  /** Another one after each change of the plan. */
  readonly revision: string;
}

export interface AlertRow extends DescribedAlert {
  readonly ruleId: string;
  readonly deviceId: string | undefined;
  readonly acknowledgedBy: string | undefined;
  readonly acknowledgedAt: number | undefined;
  readonly note: string | undefined;
}

export interface AlertFilter {
  readonly ids?: readonly string[];
  readonly state?: 'FIRING' | 'RESOLVED' | undefined;
  readonly ruleId?: string | undefined;
  readonly deviceId?: string | undefined;
  readonly severity?: AlertSeverity | undefined;
  readonly acknowledged?: boolean | undefined;
  /** The access scope of the viewer: only alerts whose devices were all in it when they fired. */
  readonly within?: DeviceFilter | undefined;
}

export type ChannelKind = 'EMAIL' | 'SLACK' | 'TELEGRAM' | 'DINGTALK' | 'FEISHU' | 'WECOM' | 'WEBHOOK';

export type ChannelConfig = Readonly<Record<string, unknown>>;

export interface ChannelPlan {
  readonly name: string;
  readonly kind: ChannelKind;
  /** With its secrets. */
  readonly config: ChannelConfig;
  /** The same with secrets masked. */
  readonly shown: ChannelConfig;
  readonly enabled: boolean;
}

export interface ChannelRow {
  readonly id: string;
  readonly name: string;
  readonly kind: ChannelKind;
  /** With secrets masked. */
  readonly config: ChannelConfig;
  readonly enabled: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly failingSince: number | undefined;
  readonly lastError: string | undefined;
  /** Another one after each change of the plan. */
  readonly revision: string;
}

export interface AlertUpdate extends ChangeOrigin {
  readonly expectedRevision?: string | undefined;
}

export type RuleAnswer =
  { readonly kind: 'saved'; readonly rule: AlertRuleRow } | { readonly kind: RuleRefusal; readonly id?: string };

type RuleRefusal = 'NOT_FOUND' | 'NAME_TAKEN' | 'FULL' | 'OTHER_KIND' | 'OTHER_REVISION' | 'NO_CHANNEL';

export type ChannelAnswer =
  | { readonly kind: 'saved'; readonly channel: ChannelRow }
  | { readonly kind: 'NOT_FOUND' | 'NAME_TAKEN' | 'FULL' | 'OTHER_REVISION' };

/** A message of the outbox, claimed for one attempt. */
export interface ClaimedMessage {
  readonly channelId: string;
  readonly kind: ChannelKind;
  /** The same for each attempt, so that a receiver can recognise a repetition. */
  readonly messageId: string;
  /** Undefined where it was sealed with another key. */
  readonly config: ChannelConfig | undefined;
  readonly isResolved: boolean;
  readonly notifications: readonly { readonly id: string; readonly kind: NotificationKind }[];
  readonly alerts: readonly AlertRow[];
  readonly failures: number;
  /** `until` in ms since the Unix epoch; `settingsFrom`: when the settings were saved. */
  readonly claim: { readonly processId: string; readonly until: number; readonly settingsFrom: Date };
}

/** The state of all channels together. */
export interface NotificationBacklog {
  readonly pending: number;
  /** Age of the oldest of them, ms. */
  readonly oldestMs: number;
  readonly failingChannels: number;
}
