/** Rules of alerts: few rows, each evaluated by a worker every few seconds. */
import { canonicalJson } from '@flotilla/mcp';
import { v7 } from 'uuid';
import { audited } from '../audit/append-audit.js';
import type { AuditedChange, ChangeOrigin } from '../audit/audit-entry.js';
import type { Database, Queryable, Transaction } from '../database/database.js';
import { storableJson, storableText } from '../database/json-rows.js';
import { isUuid } from '../database/uuid-v7.js';
import { Prisma } from '../generated/prisma/client.js';
import type { AlertRulePlan, AlertRuleRow, AlertUpdate, RuleAnswer } from './alert.js';
import { toRule } from './alert-rows.js';
import { END_CONDITIONS } from './evaluation-sql.js';

const FIRING_COUNTS = {
  name: 'firing-alerts-of-rules',
  text: `SELECT a.rule_id AS id, count(*)::int AS count FROM alert a
         WHERE a.resolved_at IS NULL AND a.rule_id = ANY ($1::uuid[]) GROUP BY a.rule_id`,
};

export class AlertRuleStore {
  constructor(private readonly database: Database) {}

  /** By name, without deleted ones. */
  async all(): Promise<readonly AlertRuleRow[]> {
    const query = { where: { deletedAt: null }, orderBy: { name: 'asc' as const } };
    return (await this.database.ask((prisma) => prisma.alertRule.findMany(query))).map(toRule);
  }

  /** Also deleted ones, because their alerts stay; in the order of the ids. */
  async findMany(ids: readonly string[]): Promise<readonly (AlertRuleRow | undefined)[]> {
    const where = { id: { in: ids.filter(isUuid) } };
    const rows = await this.database.ask((prisma) => prisma.alertRule.findMany({ where }));
    const byId = new Map(rows.map((row) => [row.id, toRule(row)]));
    return ids.map((id) => byId.get(id));
  }

  /** Undefined for an unknown id, and for a deleted rule. */
  async find(id: string): Promise<AlertRuleRow | undefined> {
    const [rule] = await this.findMany([id]);
    return rule?.deletedAt === undefined ? rule : undefined;
  }

  /** Alerts that fire now, in the order of the ids. */
  async firingCounts(ids: readonly string[]): Promise<readonly number[]> {
    const rows = await this.database.query<{ id: string; count: number }>(FIRING_COUNTS, [ids.filter(isUuid)]);
    const byId = new Map(rows.map(({ id, count }) => [id, count]));
    return ids.map((id) => byId.get(id) ?? 0);
  }

  create(plan: AlertRulePlan, { rulesMax, at, by }: ChangeOrigin & { readonly rulesMax: number }): Promise<RuleAnswer> {
    const id = v7({ msecs: at });
    return audited(
      this.database,
      by,
      async (transaction): Promise<RuleAnswer> => {
        await lock(transaction);
        const refusal = await refusalOf(transaction, id, plan);
        if (refusal !== undefined) return refusal;
        return transaction.ask(async (prisma) => {
          if ((await prisma.alertRule.count({ where: { deletedAt: null } })) >= rulesMax) return { kind: 'FULL' };
          const data = { ...columnsOf(plan), id, kind: plan.kind, createdAt: new Date(at), updatedAt: new Date(at) };
          return { kind: 'saved', rule: toRule(await prisma.alertRule.create({ data })) };
        });
      },
      (answer) => (answer.kind === 'saved' ? [changeOf('alert_rule.created', answer.rule, at)] : []),
    );
  }

  /** Replaces all but the kind. Conditions about something else end, and their alerts. */
  async update(id: string, plan: AlertRulePlan, { at, by, expectedRevision }: AlertUpdate): Promise<RuleAnswer> {
    if (!isUuid(id)) return { kind: 'NOT_FOUND' };
    return audited(
      this.database,
      by,
      async (transaction): Promise<RuleAnswer> => {
        await lock(transaction);
        const former = await transaction.ask((prisma) => prisma.alertRule.findUnique({ where: { id } }));
        if (former?.deletedAt !== null) return { kind: 'NOT_FOUND' };
        const isExpected = expectedRevision === undefined || toRule(former).revision === expectedRevision;
        if (!isExpected) return { kind: 'OTHER_REVISION' };
        if (former.kind !== plan.kind) return { kind: 'OTHER_KIND' };
        const refusal = await refusalOf(transaction, id, plan);
        if (refusal !== undefined) return refusal;
        const data = { ...columnsOf(plan), updatedAt: new Date(at) };
        const rule = toRule(await transaction.ask((prisma) => prisma.alertRule.update({ where: { id }, data })));
        if (aboutOf(rule) !== aboutOf(toRule(former))) await transaction.query(END_CONDITIONS, [id]);
        return { kind: 'saved', rule };
      },
      (answer) => (answer.kind === 'saved' ? [changeOf('alert_rule.updated', answer.rule, at)] : []),
    );
  }

  /** Its alerts stay, and the next evaluation resolves those that fire. False for an unknown id. */
  async remove(id: string, { at, by }: ChangeOrigin): Promise<boolean> {
    if (!isUuid(id)) return false;
    const removed = await audited(
      this.database,
      by,
      (transaction) =>
        transaction.ask(async (prisma) => {
          const data = { deletedAt: new Date(at), enabled: false };
          return (await prisma.alertRule.updateManyAndReturn({ where: { id, deletedAt: null }, data }))[0];
        }),
      (rule) => (rule === undefined ? [] : [changeOf('alert_rule.deleted', toRule(rule), at)]),
    );
    return removed !== undefined;
  }

  /** Of the rule, or of one device under it. Undefined for an unknown id. */
  async snooze(
    id: string,
    deviceId: string | undefined,
    until: number,
    { at, by }: ChangeOrigin,
  ): Promise<AlertRuleRow | undefined> {
    if (!isUuid(id)) return undefined;
    const time = new Date(until);
    return audited(
      this.database,
      by,
      (transaction) =>
        transaction.ask(async (prisma) => {
          const where = { id, deletedAt: null };
          const data = deviceId === undefined ? { snoozedUntil: time } : {};
          const [rule] = await prisma.alertRule.updateManyAndReturn({ where, data });
          if (rule === undefined) return undefined;
          if (deviceId !== undefined) {
            const key = { ruleId: id, deviceId };
            const change = {
              where: { ruleId_deviceId: key },
              create: { ...key, until: time },
              update: { until: time },
            };
            await prisma.alertSnooze.upsert(change);
          }
          return toRule(rule);
        }),
      (rule) =>
        rule === undefined
          ? []
          : [
              {
                action: 'alert_rule.snoozed',
                subject: `alert-rule:${id}`,
                at,
                data: { name: rule.name, deviceId, until: time.toISOString() },
              },
            ],
    );
  }

  /** Makes rules of the hub that were never made and have a free name; `plans` by their keys. */
  async ship(plans: ReadonlyMap<string, AlertRulePlan>, at: number): Promise<number> {
    const data = [...plans].map(([shippedAs, plan]) => ({
      ...columnsOf(plan),
      id: v7({ msecs: at }),
      kind: plan.kind,
      shippedAs,
      createdAt: new Date(at),
      updatedAt: new Date(at),
    }));
    return this.database.transaction(async (transaction) => {
      await lock(transaction);
      return (await transaction.ask((prisma) => prisma.alertRule.createMany({ data, skipDuplicates: true }))).count;
    });
  }
}

/** Writers take turns, because names are unique and the number of rows is bounded. */
async function lock(transaction: Queryable): Promise<void> {
  await transaction.query({ text: 'LOCK TABLE alert_rule IN SHARE ROW EXCLUSIVE MODE' }, []);
}

async function refusalOf(
  transaction: Transaction,
  id: string,
  { name, channelIds }: AlertRulePlan,
): Promise<RuleAnswer | undefined> {
  return transaction.ask(async (prisma) => {
    const isTaken = { name: storableText(name), id: { not: id }, deletedAt: null };
    if ((await prisma.alertRule.count({ where: isTaken })) > 0) return { kind: 'NAME_TAKEN' };
    const where = { id: { in: channelIds.filter(isUuid) } };
    const known = new Set(
      (await prisma.notificationChannel.findMany({ where, select: { id: true } })).map((c) => c.id),
    );
    const unknown = channelIds.find((channelId) => !known.has(channelId));
    return unknown === undefined ? undefined : { kind: 'NO_CHANNEL', id: unknown };
  });
}

/** What a condition of the rule is about, besides its subject. */
function aboutOf({ kind, path, below, devices }: AlertRuleRow): string {
  if (kind === 'MEASUREMENT') return canonicalJson([path, below]);
  return kind === 'FLEET_OFFLINE_SHARE' || kind === 'CALL_FAILURE_RATIO' ? canonicalJson(devices ?? null) : '';
}

function columnsOf({
  name,
  devices,
  severity,
  threshold,
  path,
  repeatEverySeconds,
  channelIds,
  ...plan
}: AlertRulePlan) {
  return {
    name: storableText(name),
    severity,
    channelIds: [...new Set(channelIds)],
    devices: devices === undefined ? Prisma.DbNull : storableJson(devices),
    forSeconds: plan.forSeconds,
    threshold: threshold ?? null,
    below: plan.below,
    path: path === undefined ? null : storableText(path),
    windowSeconds: plan.windowSeconds,
    groupAbove: plan.groupAbove,
    enabled: plan.enabled,
    repeatEverySeconds: repeatEverySeconds ?? null,
  };
}

function changeOf(action: string, { id, ...rule }: AlertRuleRow, at: number): AuditedChange {
  const { name, kind, devices, severity, forSeconds, threshold, path, channelIds, enabled } = rule;
  const data = { name, kind, devices, severity, forSeconds, threshold, path, channelIds, enabled };
  return { action, subject: `alert-rule:${id}`, data, at };
}
