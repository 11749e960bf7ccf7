/** Devices and their sessions in PostgreSQL. */
import type { DeviceId, HubProcessId } from '@flotilla/mcp';
import { audited } from '../audit/append-audit.js';
import type { AuditSource } from '../audit/audit-entry.js';
import type { Database, Queryable } from '../database/database.js';
import { storableText } from '../database/json-rows.js';
import { bind } from '../database/sql-parameters.js';
import type { DeviceFilter } from '../device-filter.js';
import { resolveFilter } from '../groups/resolve-filter.js';
import { noteGroupMembers } from '../groups/group-zones.js';
import type { Page, PageRequest } from '../page.js';
import { noteChange } from '../provisioning/credentials/issue-credentials.js';
import { RegistryError } from '../registry-error.js';
import type { RegistryLogger } from '../registry-logger.js';
import type { WriterStatus } from '../registry.js';
import type {
  ClosedSession,
  ConnectingDevice,
  FormerState,
  OpenedSession,
  ReadyResult,
  ReadySession,
  ReportedState,
} from '../sessions/session-changes.js';
import { readSessions, type SessionRow } from '../sessions/session-rows.js';
import { SessionWriter } from '../sessions/session-writer.js';
import { toolSetHistory, type ToolSetUseRow } from '../tool-sets/tool-set-history.js';
import type { ToolSetStore } from '../tool-sets/tool-set-store.js';
import { deviceCondition, listedDeviceCondition } from './device-condition.js';
import { pageOfDevices, type DeviceOrder } from './device-pages.js';
import { DEVICE_COLUMNS, toDeviceRow, type DeviceRecord, type DeviceRow } from './device-rows.js';
import { readFilterValues } from './filter-values.js';
import { sortedTags, tagDevices, type TagChange, type TagResult } from './tag-devices.js';

/** An absent member stays as it is; null removes it. */
interface DeviceChange {
  readonly name?: string | null;
  readonly tags?: readonly string[];
  /** IANA name. */
  readonly timeZone?: string | null;
  /** An empty list removes them. */
  readonly voiceUrls?: readonly string[];
}

/** A higher count costs more than it is worth to readers. */
const COUNT_MAX = 10_000;

export class DeviceStore {
  readonly #sessions: SessionWriter;

  /** `holder` returns this process once it has a lease. */
  constructor(
    private readonly database: Database,
    private readonly toolSets: ToolSetStore,
    holder: () => HubProcessId | undefined,
    logger: RegistryLogger,
  ) {
    this.#sessions = new SessionWriter(database, holder, logger);
  }

  /**
   * Creates the device if it is new, raises its epoch and opens the session row; with `ready` it
   * does what `ready` does. Writes of sessions are batched and resolve when committed.
   */
  connect(device: ConnectingDevice): Promise<OpenedSession> {
    if (device.deviceId === '' || storableText(device.deviceId) !== device.deviceId) {
      const id = JSON.stringify(device.deviceId);
      const message = `${id} is not a device id. A device id is a non-empty text without NUL.`;
      return Promise.reject(new RegistryError('ARGUMENT_INVALID', message));
    }
    return this.#sessions.connecting.add(device);
  }

  /**
   * Stores what the greeting and the listing reported, and marks the device online. An older epoch
   * changes nothing.
   */
  ready(session: ReadySession): Promise<ReadyResult> {
    return this.#sessions.ready.add(session);
  }

  /**
   * Closes the session. Resolves to whether it was the newest one; only then the device goes
   * offline.
   */
  closeSession(session: ClosedSession): Promise<boolean> {
    return this.#sessions.closed.add(session);
  }

  /**
   * Stores the reported state if it differs from the stored one, and resolves to the previous one.
   */
  report(report: ReportedState): Promise<FormerState> {
    return this.#sessions.reported.add(report);
  }

  writers(): readonly WriterStatus[] {
    return this.#sessions.writers();
  }

  close(): Promise<void> {
    return this.#sessions.close();
  }

  async find(id: string): Promise<DeviceRow | undefined> {
    return (await this.findMany([id]))[0];
  }

  /** In the order of the input; undefined for an unknown id. */
  async findMany(ids: readonly string[]): Promise<readonly (DeviceRow | undefined)[]> {
    const records = await this.database.query<DeviceRecord>(
      { name: 'devices-by-id', text: `SELECT ${DEVICE_COLUMNS} FROM device d WHERE d.id = ANY($1::text[])` },
      [ids.map(storableText)],
    );
    const rows = new Map(records.map((record) => [record.id, toDeviceRow(record)]));
    return ids.map((id) => rows.get(id));
  }

  page(filter: DeviceFilter | undefined, order: DeviceOrder, page: PageRequest): Promise<Page<DeviceRow>> {
    return pageOfDevices(this.database, filter, order, page);
  }

  /** The ids of at most `max` devices that a change with this filter is for, in their order. */
  async idsOf(filter: DeviceFilter, max: number): Promise<readonly DeviceId[]> {
    const parameters: unknown[] = [];
    const condition = deviceCondition(await resolveFilter(this.database, filter), parameters);
    const rows = await this.database.query<{ id: DeviceId }>(
      { text: `SELECT d.id FROM device d WHERE ${condition} ORDER BY d.id LIMIT ${bind(parameters, max)}` },
      parameters,
    );
    return rows.map(({ id }) => id);
  }

  /** Exact up to 10,000, undefined above. */
  async count(filter: DeviceFilter | undefined): Promise<number | undefined> {
    const parameters: unknown[] = [];
    const resolved = filter && (await resolveFilter(this.database, filter));
    const values = resolved && (await readFilterValues(this.database, resolved));
    const condition = listedDeviceCondition(resolved, parameters, values);
    const counted = `SELECT FROM device d WHERE ${condition} LIMIT ${String(COUNT_MAX + 1)}`;
    const [row] = await this.database.query<{ count: number }>(
      { text: `SELECT count(*)::int AS count FROM (${counted}) AS counted` },
      parameters,
    );
    return row === undefined || row.count > COUNT_MAX ? undefined : row.count;
  }

  /**
   * The newest sessions of each device, newest first, in the order of the input; `starts` bounds
   * their time.
   */
  sessions(
    ids: readonly string[],
    first: number,
    starts?: readonly number[],
  ): Promise<readonly (readonly SessionRow[])[]> {
    return readSessions(this.database, ids.map(storableText), first, starts);
  }

  /**
   * The newest tool sets of each device, newest first, in the order of the input; `starts` bounds
   * when they were first seen.
   */
  toolSetHistory(
    ids: readonly string[],
    first: number,
    starts?: readonly number[],
  ): Promise<readonly (readonly ToolSetUseRow[])[]> {
    return toolSetHistory(this.database, this.toolSets, ids.map(storableText), { first, starts });
  }

  /** Undefined for an unknown id. */
  async update(id: string, change: DeviceChange, by?: AuditSource): Promise<DeviceRow | undefined> {
    await audited(
      this.database,
      by,
      (transaction) => updateDevice(transaction, storableText(id), change),
      (isDevice) =>
        isDevice ? [{ action: 'device.updated', subject: `device:${id}`, data: { ...change }, at: Date.now() }] : [],
    );
    return this.find(id);
  }

  /**
   * Adds and removes tags on all matching devices. Changes nothing if one of them would exceed
   * `tagsMax`. A tag that is in both lists is removed.
   */
  tag(filter: DeviceFilter, change: TagChange, by?: AuditSource): Promise<TagResult> {
    const { add, remove } = change;
    return audited(
      this.database,
      by,
      (transaction) => tagDevices(transaction, filter, change),
      (result) => {
        if (result.kind === 'full' || result.ids.length === 0) return [];
        const data = { filter, add, remove, changedCount: result.ids.length };
        return [{ action: 'devices.tagged', subject: 'devices', data, at: Date.now() }];
      },
    );
  }
}

/** Resolves to false for an unknown id. */
async function updateDevice(
  transaction: Queryable,
  id: string,
  { name, tags, timeZone, voiceUrls }: DeviceChange,
): Promise<boolean> {
  const rows = await transaction.query(
    {
      text: `UPDATE device SET
               name = CASE WHEN $2::boolean THEN $3::text ELSE name END, tags = coalesce($4::text[], tags),
               time_zone = CASE WHEN $5::boolean THEN $6::text ELSE time_zone END,
               voice_urls = coalesce($7::text[], voice_urls)
             WHERE id = $1 RETURNING id`,
    },
    [
      id,
      name !== undefined,
      typeof name === 'string' ? storableText(name) : null,
      tags === undefined ? null : sortedTags(tags),
      timeZone !== undefined,
      timeZone,
      voiceUrls,
    ],
  );
  if (rows.length === 0) return false;
  if (timeZone !== undefined) await noteChange(transaction, [id]);
  else await noteGroupMembers(transaction, [id]);
  return true;
}
