/** Devices in PostgreSQL. Writes of sessions go through the presence writer; everything else is asked when it is asked. */
import type { HubProcessId } from '@flotilla/mcp';
import { audited } from '../audit/append-audit.js';
import type { AuditSource } from '../audit/audit-entry.js';
import type { Database, Queryable } from '../database/database.js';
import { storableText } from '../database/json-rows.js';
import type { DeviceFilter } from '../device-filter.js';
import type {
  ClosedSession,
  ConnectingDevice,
  DeviceChange,
  DeviceOrder,
  DeviceRow,
  DeviceStore,
  FormerState,
  OpenedSession,
  ReadyResult,
  ReadySession,
  ReportedState,
  SessionRow,
  TagChange,
  TagResult,
  ToolSetStore,
  ToolSetUseRow,
} from './device-types.js';
import { groundFilter } from '../groups/ground-filter.js';
import { noteGroupMembers } from '../groups/group-zones.js';
import type { Page, PageRequest } from '../page.js';
import { noteChange } from '../provisioning/credentials/issue-credentials.js';
import { RegistryError } from '../registry-error.js';
import type { RegistryLogger } from '../registry-logger.js';
import type { WriterStatus } from '../registry.js';
import { listedDeviceCondition } from './device-condition.js';
import { pageOfDevices } from './device-pages.js';
import { DEVICE_COLUMNS, toDeviceRow } from './device-rows.js';
import type { DeviceRecord } from './device-rows.js';
import { PresenceWriter } from '../sessions/session-writer.js';
import { resolveFilter } from './resolved-filter.js';
import { readSessions } from '../sessions/session-rows.js';
import { sortedTags, tagDevices } from './tag-devices.js';
import { toolSetHistory } from '../tool-sets/tool-set-history.js';

/** Counting further costs more than anybody reads. */
const COUNT_MAX = 10_000;

export class PgDeviceStore implements DeviceStore {
  readonly #database: Database;
  readonly #toolSets: ToolSetStore;
  readonly #presence: PresenceWriter;

  constructor(
    database: Database,
    toolSets: ToolSetStore,
    holder: () => HubProcessId | undefined,
    logger: RegistryLogger,
  ) {
    this.#database = database;
    this.#toolSets = toolSets;
    this.#presence = new PresenceWriter(database, holder, logger);
  }

  connecting(device: ConnectingDevice): Promise<OpenedSession> {
    if (device.deviceId === '' || storableText(device.deviceId) !== device.deviceId) {
      return Promise.reject(
        new RegistryError(
          'ARGUMENT_INVALID',
          `A device id is a text without NUL, not ${JSON.stringify(device.deviceId)}.`,
        ),
      );
    }
    return this.#presence.connecting.add(device);
  }

  ready(session: ReadySession): Promise<ReadyResult> {
    return this.#presence.ready.add(session);
  }

  closed(session: ClosedSession): Promise<boolean> {
    return this.#presence.closed.add(session);
  }

  report(report: ReportedState): Promise<FormerState> {
    return this.#presence.reported.add(report);
  }

  writers(): readonly WriterStatus[] {
    return this.#presence.writers();
  }

  close(): Promise<void> {
    return this.#presence.close();
  }

  async find(id: string): Promise<DeviceRow | undefined> {
    return (await this.findMany([id]))[0];
  }

  async findMany(ids: readonly string[]): Promise<readonly (DeviceRow | undefined)[]> {
    const records = await this.#database.query<DeviceRecord>(
      { name: 'devices-by-id', text: `SELECT ${DEVICE_COLUMNS} FROM device d WHERE d.id = ANY($1::text[])` },
      [ids.map(storableText)],
    );
    const rows = new Map(records.map((record) => [record.id, toDeviceRow(record)]));
    return ids.map((id) => rows.get(id));
  }

  page(filter: DeviceFilter | undefined, order: DeviceOrder, page: PageRequest): Promise<Page<DeviceRow>> {
    return pageOfDevices(this.#database, filter, order, page);
  }

  async count(filter: DeviceFilter | undefined): Promise<number | undefined> {
    const parameters: unknown[] = [];
    const ground = filter && (await groundFilter(this.#database, filter));
    const condition = listedDeviceCondition(
      ground,
      parameters,
      ground && (await resolveFilter(this.#database, ground)),
    );
    const [row] = await this.#database.query<{ count: number }>(
      {
        text: `SELECT count(*)::int AS count FROM (SELECT FROM device d WHERE ${condition} LIMIT ${String(COUNT_MAX + 1)}) AS counted`,
      },
      parameters,
    );
    return row === undefined || row.count > COUNT_MAX ? undefined : row.count;
  }

  sessions(
    ids: readonly string[],
    first: number,
    starts?: readonly number[],
  ): Promise<readonly (readonly SessionRow[])[]> {
    return readSessions(this.#database, ids.map(storableText), first, starts);
  }

  toolSetHistory(
    ids: readonly string[],
    first: number,
    starts?: readonly number[],
  ): Promise<readonly (readonly ToolSetUseRow[])[]> {
    return toolSetHistory(this.#database, this.#toolSets, ids.map(storableText), { first, starts });
  }

  async update(id: string, change: DeviceChange, by?: AuditSource): Promise<DeviceRow | undefined> {
    await audited(
      this.#database,
      by,
      (transaction) => updateDevice(transaction, storableText(id), change),
      (isDevice) =>
        isDevice ? [{ action: 'device.updated', subject: `device:${id}`, data: { ...change }, at: Date.now() }] : [],
    );
    return this.find(id);
  }

  tag(filter: DeviceFilter, change: TagChange, by?: AuditSource): Promise<TagResult> {
    const { add, remove } = change;
    return audited(
      this.#database,
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

/** False where there is no such device. */
async function updateDevice(
  transaction: Queryable,
  id: string,
  { name, tags, timeZone, voiceUrls }: DeviceChange,
): Promise<boolean> {
  const rows = await transaction.query(
    {
      text: `UPDATE device SET name = CASE WHEN $2::boolean THEN $3::text ELSE name END, tags = coalesce($4::text[], tags),
               time_zone = CASE WHEN $5::boolean THEN $6::text ELSE time_zone END, voice_urls = coalesce($7::text[], voice_urls)
             WHERE id = $1 RETURNING id`,
    },
    [
      ...[id, name !== undefined, typeof name === 'string' ? storableText(name) : null],
      ...[tags === undefined ? null : sortedTags(tags), timeZone !== undefined, timeZone, voiceUrls],
    ],
  );
  if (rows.length === 0) return false;
  if (timeZone !== undefined) await noteChange(transaction, [id]);
  else await noteGroupMembers(transaction, [id]);
  return true;
}
