/**
 * Evaluates one rule in one transaction: conditions, alerts, their messages and events commit
 * together. The decisions are those of libs/signals.
 */
import {
  channelsToRepeat,
  channelsToResolve,
  decideFiring,
  decideResolving,
  GROUP_WINDOW_MS,
  isSilenced,
} from '@flotilla/signals';
import type { Condition, FiredCondition, Firing, HubStart, SentNotification, Snoozes } from '@flotilla/signals';
import { v7 } from 'uuid';
import type { Transaction } from '../database/database.js';
import { toJson } from '../database/json-rows.js';
import type { EventRow, InsertedEvents } from '../events/event-store.js';
import { insertEvents } from '../events/insert-events.js';
import type { AlertRuleRow } from './alert.js';
import { factsOf } from './firing-facts.js';
import type { ConditionSource } from './condition-sources.js';
import * as sql from './evaluation-sql.js';

interface RuleEvaluation {
  readonly rule: AlertRuleRow;
  /** Undefined for a rule that is disabled or deleted: all of its conditions end. */
  readonly source: ConditionSource | undefined;
  readonly hub: HubStart;
  readonly now: number;
}

/** Resolves to the events of the changes, which are stored already. */
export async function evaluateIn(transaction: Transaction, evaluation: RuleEvaluation): Promise<InsertedEvents> {
  const { rule, source, now } = evaluation;
  if (source === undefined) await transaction.query(sql.END_CONDITIONS, [rule.id]);
  else {
    const { statement, values } = sql.syncConditions(rule.id, source, now);
    await transaction.query(statement, values);
  }
  const snoozes = await snoozesOf(transaction, rule, now);
  const rows = [
    ...(source === undefined ? [] : await fire(transaction, evaluation, snoozes)),
    ...(await resolve(transaction, evaluation, snoozes)),
  ];
  if (source !== undefined) await repeat(transaction, evaluation, snoozes);
  return { rows, isPending: rows.length > 0 && (await insertEvents(transaction, rows)) };
}

async function snoozesOf(transaction: Transaction, { id, snoozedUntil }: AlertRuleRow, now: number): Promise<Snoozes> {
  const rows = await transaction.query<{ id: string }>(sql.SNOOZED, [id, now]);
  return { ruleUntil: snoozedUntil, devices: new Set(rows.map((row) => row.id)) };
}

type ConditionRecord = Omit<Condition, 'beganAt' | 'deviceId'> & {
  readonly beganAt: Date;
  readonly deviceId: string | null;
};

/**
 * Fires what has held for long enough: new alerts, or devices that join the open group. Resolves to
 * the events of the new alerts.
 */
async function fire(
  transaction: Transaction,
  { rule, hub, now }: RuleEvaluation,
  snoozes: Snoozes,
): Promise<readonly EventRow[]> {
  const records = await transaction.query<ConditionRecord>(sql.WAITING, [rule.id, now, rule.forSeconds]);
  if (records.length === 0) return [];
  const waiting = records.map(({ beganAt, deviceId, ...record }) => ({
    ...record,
    beganAt: beganAt.getTime(),
    deviceId: deviceId ?? undefined,
  }));
  const [recent] = await transaction.query<{ firedRecently: number; alertId: string | null; until: Date | null }>(
    sql.RECENT,
    [rule.id, now - GROUP_WINDOW_MS, now],
  );
  const openGroup =
    recent === undefined || recent.alertId === null || recent.until === null
      ? undefined
      : { alertId: recent.alertId, until: recent.until.getTime() };
  const state = { waiting, firedRecently: recent?.firedRecently ?? 0, openGroup };
  const { fired, joined } = decideFiring(rule, state, hub, now);
  if (joined !== undefined) {
    const { alertId, conditions } = joined;
    await transaction.query(sql.FIRE, [rule.id, alertId, now, conditions.map(({ subject }) => subject)]);
    await transaction.query(sql.GROW, [alertId, Math.max(...conditions.map(({ beganAt }) => beganAt))]);
    // A group whose devices were all snoozed has no message yet.
    const hasMessage = (await transaction.query(sql.SENT, [[alertId]])).length > 0;
    const deviceIds = conditions.map(({ deviceId }) => deviceId);
    if (!hasMessage && !isSilenced(snoozes, deviceIds, now))
      await notify(transaction, alertId, rule.channelIds, 'FIRED', now);
  }
  const events: EventRow[] = [];
  for (const firing of fired) events.push(await addAlert(transaction, { rule, now }, firing, snoozes));
  return events;
}

/** Writes one alert with its conditions and, unless it is silenced, its notifications. */
async function addAlert(
  transaction: Transaction,
  { rule, now }: Pick<RuleEvaluation, 'rule' | 'now'>,
  { conditions, isGroup, groupUntil }: Firing,
  snoozes: Snoozes,
): Promise<EventRow> {
  const id = v7({ msecs: now });
  const { channelIds, repeatEverySeconds, severity } = rule;
  const deviceIds = conditions.map(({ deviceId }) => deviceId);
  const deviceId = isGroup ? undefined : deviceIds[0];
  const facts = await factsOf(transaction, rule, conditions, isGroup);
  const deviceCount = deviceIds.filter((each) => each !== undefined).length;
  const row = {
    id,
    rule_id: rule.id,
    severity,
    device_id: deviceId,
    is_group: isGroup,
    device_count: deviceCount,
    facts,
    fired_at: isoOf(now),
    group_until: isoOf(groupUntil),
    repeat_at: isoOf(repeatEverySeconds === undefined ? undefined : now + repeatEverySeconds * 1_000),
  };
  await transaction.query(sql.ADD_ALERTS, [toJson([row])]);
  await transaction.query(sql.FIRE, [rule.id, id, now, conditions.map(({ subject }) => subject)]);
  if (!isSilenced(snoozes, deviceIds, now)) await notify(transaction, id, channelIds, 'FIRED', now);
  return eventOf('alert.fired', { id, rule, deviceId, deviceCount }, now);
}

/** Ends the conditions that were gone for long enough, and resolves alerts without further ones. */
async function resolve(
  transaction: Transaction,
  { rule, now }: RuleEvaluation,
  snoozes: Snoozes,
): Promise<readonly EventRow[]> {
  type FiredRecord = Omit<FiredCondition, 'clearedAt'> & { readonly clearedAt: Date | null };
  const records = await transaction.query<FiredRecord>(sql.FIRED, [rule.id, now, rule.forSeconds]);
  if (records.length === 0) return [];
  const fired = records.map((record) => ({ ...record, clearedAt: record.clearedAt?.getTime() }));
  const { ended, resolved } = decideResolving(rule, fired, now);
  await transaction.query(sql.END_FIRED, [rule.id, ended.map(({ subject }) => subject)]);
  if (resolved.length === 0) return [];
  await transaction.query(sql.RESOLVE, [resolved, now]);
  const sent = await sentOf(transaction, resolved);
  const members = await membersOf(transaction, resolved);
  const events: EventRow[] = [];
  for (const id of resolved) {
    const deviceIds = members.get(id) ?? [];
    if (!isSilenced(snoozes, deviceIds, now))
      await notify(transaction, id, channelsToResolve(sent.get(id) ?? []), 'RESOLVED', now);
    const deviceId = deviceIds.length === 1 ? deviceIds[0] : undefined;
    events.push(eventOf('alert.resolved', { id, rule, deviceId, deviceCount: deviceIds.length }, now));
  }
  return events;
}

/** Sends again what still fires, is not acknowledged, and is due by the interval of the rule. */
async function repeat(transaction: Transaction, { rule, now }: RuleEvaluation, snoozes: Snoozes): Promise<void> {
  const { channelIds, repeatEverySeconds } = rule;
  if (repeatEverySeconds === undefined) return;
  const values = [rule.id, now, repeatEverySeconds];
  const due = (await transaction.query<{ id: string }>(sql.REPEATING, values)).map(({ id }) => id);
  if (due.length === 0) return;
  await transaction.query(sql.REPEAT_LATER, [due, now + repeatEverySeconds * 1_000]);
  const [sent, members] = [await sentOf(transaction, due), await membersOf(transaction, due)];
  for (const id of due)
    if (!isSilenced(snoozes, members.get(id) ?? [], now))
      await notify(transaction, id, channelsToRepeat(channelIds, sent.get(id) ?? []), 'REPEATED', now);
}

async function notify(
  transaction: Transaction,
  alertId: string,
  channelIds: readonly string[],
  kind: 'FIRED' | 'REPEATED' | 'RESOLVED',
  now: number,
): Promise<void> {
  if (channelIds.length === 0) return;
  const rows = channelIds.map((channelId) => ({
    id: v7({ msecs: now }),
    alert_id: alertId,
    channel_id: channelId,
    kind,
    created_at: isoOf(now),
  }));
  await transaction.query(sql.NOTIFY, [toJson(rows)]);
}

type SentRecord = SentNotification & { readonly alertId: string };

async function sentOf(transaction: Transaction, alertIds: readonly string[]): Promise<Map<string, SentRecord[]>> {
  return byAlert(await transaction.query<SentRecord>(sql.SENT, [alertIds]));
}

async function membersOf(transaction: Transaction, alertIds: readonly string[]): Promise<Map<string, string[]>> {
  const rows = await transaction.query<{ alertId: string; deviceId: string }>(sql.MEMBERS, [alertIds]);
  return new Map([...byAlert(rows)].map(([id, own]) => [id, own.map(({ deviceId }) => deviceId)]));
}

function byAlert<Row extends { readonly alertId: string }>(rows: readonly Row[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const own = groups.get(row.alertId);
    if (own === undefined) groups.set(row.alertId, [row]);
    else own.push(row);
  }
  return groups;
}

function eventOf(
  type: 'alert.fired' | 'alert.resolved',
  {
    id,
    rule,
    deviceId,
    deviceCount,
  }: {
    readonly id: string;
    readonly rule: AlertRuleRow;
    readonly deviceId: string | undefined;
    readonly deviceCount: number;
  },
  now: number,
): EventRow {
  const { id: ruleId, name, kind, severity } = rule;
  const data = { alertId: id, ruleId, rule: name, kind, severity, deviceCount };
  return { id: v7({ msecs: now }), type, deviceId: deviceId as EventRow['deviceId'], at: now, data };
}

function isoOf(at: number | undefined): string | undefined {
  return at === undefined ? undefined : new Date(at).toISOString();
}
