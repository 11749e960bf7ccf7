/** Alerts: read page by page, newest first, and acknowledged. The evaluation writes them. */
import type { ChangeOrigin } from '../audit/audit-entry.js';
import { v7 } from 'uuid';
import { z } from 'zod';
import { audited } from '../audit/append-audit.js';
import { historyScopeOf } from '../access-scope/history-scope.js';
import { decodeCursor, toPage } from '../database/cursor.js';
import type { Database } from '../database/database.js';
import { grouped } from '../database/grouped.js';
import { storableText } from '../database/json-rows.js';
import { bind } from '../database/sql-parameters.js';
import { isUuid } from '../database/uuid-v7.js';
import type { DeviceFilter } from '../device-filter.js';
import type { EventRow, EventStore } from '../events/event-store.js';
import { insertEvents } from '../events/insert-events.js';
import type { Page, PageRequest } from '../page.js';
import type { AlertFilter, AlertRow } from './alert.js';
import { ALERT_COLUMNS, toAlert } from './alert-rows.js';
import type { AlertRecord } from './alert-rows.js';

const DEVICES_OF = {
  name: 'devices-of-alerts',
  text: `SELECT m.alert_id AS "alertId", m.device_id AS "deviceId" FROM unnest($1::uuid[]) AS w(id) CROSS JOIN LATERAL (
           SELECT m.alert_id, m.device_id FROM alert_device m WHERE m.alert_id = w.id ORDER BY m.device_id LIMIT $2) m`,
};
const FIRING_BY_SEVERITY = {
  name: 'firing-alerts-by-severity',
  text: `SELECT a.severity, count(*)::int AS count FROM alert a WHERE a.resolved_at IS NULL GROUP BY a.severity`,
};

export class AlertStore {
  constructor(
    private readonly database: Database,
    private readonly events: Pick<EventStore, 'announce'>,
  ) {}

  /** Newest first. */
  async page(filter: AlertFilter, request: PageRequest): Promise<Page<AlertRow>> {
    const after = decodeCursor('alerts', request, z.tuple([z.uuid()]));
    const parameters: unknown[] = [];
    const conditions = await this.#conditions(filter, parameters);
    if (after !== undefined) conditions.push(`a.id < ${bind(parameters, after[0])}::uuid`);
    const text = `SELECT ${ALERT_COLUMNS} FROM alert a WHERE ${conditions.join(' AND ')}
      ORDER BY a.id DESC LIMIT ${bind(parameters, request.first + 1)}`;
    const records = await this.database.query<AlertRecord>({ text }, parameters);
    return toPage(records, request, 'alerts', ({ id }) => [id], toAlert);
  }

  async count(filter: AlertFilter): Promise<number> {
    const parameters: unknown[] = [];
    const conditions = await this.#conditions(filter, parameters);
    const text = `SELECT count(*)::int AS count FROM alert a WHERE ${conditions.join(' AND ')}`;
    return (await this.database.query<{ count: number }>({ text }, parameters))[0]?.count ?? 0;
  }

  /** Undefined for an unknown id, and if it is about a device that was not in the scope yet. */
  async find(id: string, within?: DeviceFilter): Promise<AlertRow | undefined> {
    if (!isUuid(id)) return undefined;
    const parameters: unknown[] = [];
    const conditions = await this.#conditions({ within }, parameters);
    const text = `SELECT ${ALERT_COLUMNS} FROM alert a
      WHERE a.id = ${bind(parameters, id)}::uuid AND ${conditions.join(' AND ')}`;
    const [record] = await this.database.query<AlertRecord>({ text }, parameters);
    return record && toAlert(record);
  }

  /** Ids of devices of each alert, in the order of the alerts. */
  async deviceIdsOf(ids: readonly string[], first: number): Promise<readonly (readonly string[])[]> {
    const rows = await this.database.query<{ alertId: string; deviceId: string }>(DEVICES_OF, [ids, first]);
    return grouped(ids, rows, ({ alertId }) => alertId).map((own) => own.map(({ deviceId }) => deviceId));
  }

  async firingBySeverity(): Promise<readonly { readonly severity: string; readonly count: number }[]> {
    return this.database.query(FIRING_BY_SEVERITY, []);
  }

  /**
   * Repeated messages end. A new note also replaces that of an acknowledged alert, with its person.
   * Resolves to the alert, and to the event of the change if something changed.
   */
  async acknowledge(
    id: string,
    note: string | undefined,
    { at, by }: ChangeOrigin,
    within?: DeviceFilter,
  ): Promise<{ readonly alert: AlertRow; readonly event: EventRow | undefined } | undefined> {
    if ((await this.find(id, within)) === undefined) return undefined;
    const event: EventRow = {
      id: v7({ msecs: at }),
      type: 'alert.acknowledged',
      deviceId: undefined,
      at,
      data: { alertId: id, by: by.actor, note: note ?? null },
    };
    const inserted = await audited(
      this.database,
      by,
      async (transaction) => {
        const given = { acknowledgedBy: storableText(by.actor), note: note === undefined ? null : storableText(note) };
        const { acknowledgedBy } = given;
        const isOther = [{ note: null }, { note: { not: given.note } }, { acknowledgedBy: { not: acknowledgedBy } }];
        const where = { id, OR: [{ acknowledgedAt: null }, ...(note === undefined ? [] : isOther)] };
        const data = { ...given, acknowledgedAt: new Date(at), repeatAt: null };
        const { count } = await transaction.ask((prisma) => prisma.alert.updateMany({ where, data }));
        return count > 0 ? { rows: [event], isPending: await insertEvents(transaction, [event]) } : undefined;
      },
      (changed) =>
        changed ? [{ action: 'alert.acknowledged', subject: `alert:${id}`, data: { note: note ?? null }, at }] : [],
    );
    if (inserted !== undefined) this.events.announce(inserted);
    const alert = await this.find(id, within);
    return alert && { alert, event: inserted?.rows[0] };
  }

  async #conditions(filter: AlertFilter, parameters: unknown[]): Promise<string[]> {
    const { ids, state, ruleId, deviceId, severity, acknowledged, within } = filter;
    const conditions = ['TRUE'];
    if (ids !== undefined) conditions.push(`a.id = ANY (${bind(parameters, ids.filter(isUuid))}::uuid[])`);
    if (state !== undefined) conditions.push(`a.resolved_at IS ${state === 'FIRING' ? 'NULL' : 'NOT NULL'}`);
    if (ruleId !== undefined) conditions.push(isUuid(ruleId) ? `a.rule_id = ${bind(parameters, ruleId)}` : 'FALSE');
    if (severity !== undefined) conditions.push(`a.severity = ${bind(parameters, severity)}`);
    if (acknowledged !== undefined) conditions.push(`a.acknowledged_at IS ${acknowledged ? 'NOT NULL' : 'NULL'}`);
    if (deviceId !== undefined) {
      const own = `m.alert_id = a.id AND m.device_id = ${bind(parameters, storableText(deviceId))}`;
      conditions.push(`EXISTS (SELECT FROM alert_device m WHERE ${own})`);
    }
    if (within !== undefined) {
      const isInScope = await historyScopeOf(this.database, within);
      const isOwn = isInScope('m.device_id', { at: 'a.fired_at' }, parameters);
      const member = (condition: string) => `EXISTS (SELECT FROM alert_device m WHERE m.alert_id = a.id${condition})`;
      conditions.push(`${member('')} AND NOT ${member(` AND NOT (${isOwn})`)}`);
    }
    return conditions;
  }
}
