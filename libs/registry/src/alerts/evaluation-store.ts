/** What the worker that evaluates the rules reads and writes. */
import type { HubStart } from '@flotilla/signals';
import type { Database, Queryable, Transaction } from '../database/database.js';
import { plainRow } from '../database/plain-row.js';
import type { DeviceFilter } from '../device-filter.js';
import { deviceCondition } from '../devices/device-condition.js';
import type { EventRow, EventStore } from '../events/event-store.js';
import { resolveFilter } from '../groups/resolve-filter.js';
import { removeInBatches } from '../retention/remove-in-batches.js';
import type { AlertRuleRow } from './alert.js';
import { toRule } from './alert-rows.js';
import { isReturning, LOST_DEVICE, OFFLINE_SINCE } from './condition-sources.js';
import type { ConditionSource, SqlPart } from './condition-sources.js';
import { evaluateIn } from './evaluate-rule.js';
import { FENCE, HUB_START, TAKE_EVALUATION } from './evaluation-sql.js';
import { firingTimes } from './rule-history.js';
import type { HistoryRequest } from './rule-history.js';

/** An edit waits for the evaluation. */
const HOLD_RULE = { name: 'hold-alert-rule', text: 'SELECT FROM alert_rule WHERE id = $1 FOR SHARE' };

interface OfflineShare {
  readonly total: number;
  /** Without those that the stop of the hub disconnected and that may still return. */
  readonly offline: number;
  /** Those. */
  readonly returning: number;
  /** Of the latest that is counted as offline, ms since the Unix epoch. */
  readonly since: number | undefined;
}

export class AlertEvaluationStore {
  constructor(
    private readonly database: Database,
    private readonly events: Pick<EventStore, 'announce'>,
  ) {}

  /** Whether this process evaluates the rules for the next `leaseMs`. */
  async take(processId: string, now: number, leaseMs: number): Promise<boolean> {
    return (await this.database.query(TAKE_EVALUATION, [processId, now, leaseMs])).length > 0;
  }

  /** Enabled rules, and others whose conditions have to end. */
  async rules(): Promise<readonly AlertRuleRow[]> {
    const open = await this.database.query<{ id: string }>(
      { name: 'rules-with-conditions', text: 'SELECT DISTINCT rule_id AS id FROM alert_condition' },
      [],
    );
    const where = { OR: [{ enabled: true, deletedAt: null }, { id: { in: open.map(({ id }) => id) } }] };
    const query = { where, orderBy: { id: 'asc' as const } };
    return (await this.database.ask((prisma) => prisma.alertRule.findMany(query))).map(toRule);
  }

  /** Undefined while no gateway lives. */
  async hubStartedAt(): Promise<number | undefined> {
    const [row] = await this.database.query<{ startedAt: Date | null }>(HUB_START, []);
    return row?.startedAt?.getTime();
  }

  /** A condition on `device d`; TRUE without a filter. */
  async conditionOf(filter: DeviceFilter | undefined): Promise<SqlPart> {
    if (filter === undefined) return () => 'TRUE';
    const resolved = await resolveFilter(this.database, filter);
    return (parameters) => deviceCondition(resolved, parameters);
  }

  /**
   * Resolves to the events of the changes; undefined where another process evaluates. A rule that
   * was changed or snoozed since it was read waits for the next round.
   */
  async evaluate(
    processId: string,
    rule: AlertRuleRow,
    source: ConditionSource | undefined,
    { hub, now }: { readonly hub: HubStart; readonly now: number },
  ): Promise<readonly EventRow[] | undefined> {
    const inserted = await this.database.transaction(async (transaction) => {
      if ((await transaction.query(FENCE, [processId])).length === 0) return undefined;
      const isCurrent = await isAsStored(transaction, rule);
      return isCurrent ? evaluateIn(transaction, { rule, source, hub, now }) : { rows: [], isPending: false };
    });
    if (inserted !== undefined) this.events.announce(inserted);
    return inserted?.rows;
  }

  async offlineShare(condition: SqlPart, hub: HubStart, now: number): Promise<OfflineShare> {
    const values: unknown[] = [];
    const text = `SELECT count(*)::int AS total,
        count(*) FILTER (WHERE l.since IS NOT NULL AND NOT l.returning)::int AS offline,
        count(*) FILTER (WHERE l.returning)::int AS returning, max(l.since) FILTER (WHERE NOT l.returning) AS since
      FROM device d LEFT JOIN LATERAL (
        SELECT coalesce(o.since, d.last_seen_at, d.connected_at) AS since,
          ${isReturning(hub, now)(values)} AS returning
        FROM (${OFFLINE_SINCE}) o WHERE ${LOST_DEVICE}) l ON true
      WHERE d.connected_at IS NOT NULL AND d.reachability = 'ALWAYS' AND ${condition(values)}`;
    const [row] = await this.database.query<{ total: number; offline: number; returning: number; since: Date | null }>(
      { text },
      values,
    );
    return row === undefined ? { total: 0, offline: 0, returning: 0, since: undefined } : plainRow(row);
  }

  /** When a rule would have fired; undefined where there are no records of it. */
  async firingTimes(request: Omit<HistoryRequest, 'condition'>): Promise<readonly number[] | undefined> {
    const condition = await this.conditionOf(request.plan.devices);
    return firingTimes(this.database, { ...request, condition });
  }

  /** Removes alerts that were resolved before `before`, and what belongs to them. */
  async removeOld(before: number): Promise<number> {
    const bound = [before];
    const isOld = 'r.resolved_at < to_timestamp($1::float8 / 1000)';
    const removed = await removeInBatches(this.database, 'alert', isOld, bound);
    for (const table of ['alert_device', 'notification'])
      await removeInBatches(this.database, table, 'NOT EXISTS (SELECT FROM alert a WHERE a.id = r.alert_id)', []);
    await removeUnused(this.database, before);
    return removed;
  }
}

async function removeUnused(db: Queryable, before: number): Promise<void> {
  const isPast = 'to_timestamp($1::float8 / 1000)';
  await db.query({ text: `DELETE FROM alert_snooze WHERE until < ${isPast}` }, [before]);
  await db.query(
    {
      text: `DELETE FROM alert_rule r WHERE r.deleted_at < ${isPast} AND r.shipped_as IS NULL
        AND NOT EXISTS (SELECT FROM alert a WHERE a.rule_id = r.id)
        AND NOT EXISTS (SELECT FROM alert_condition c WHERE c.rule_id = r.id)`,
    },
    [before],
  );
}

/** Whether the rule is as it was read. It stays so until the end of the transaction. */
async function isAsStored(transaction: Transaction, { id, revision, snoozedUntil }: AlertRuleRow): Promise<boolean> {
  await transaction.query(HOLD_RULE, [id]);
  const stored = await transaction.ask((prisma) => prisma.alertRule.findUnique({ where: { id } }));
  if (stored === null) return false;
  const current = toRule(stored);
  return current.revision === revision && current.snoozedUntil === snoozedUntil;
}
