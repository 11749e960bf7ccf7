/** Device groups in PostgreSQL: few rows, each a saved filter. */
import { v7 } from 'uuid';
import { z } from 'zod';
import { audited } from '../audit/append-audit.js';
import type { AuditedChange } from '../audit/audit-entry.js';
import { decodeCursor, toPage } from '../database/cursor.js';
import type { Database, Queryable } from '../database/database.js';
import { storableText, toJson } from '../database/json-rows.js';
import { bind } from '../database/sql-parameters.js';
import { isUuid } from '../database/uuid-v7.js';
import type { DeviceFilter, GroundFilter } from '../device-filter.js';
import type { DeviceGroupAnswer, DeviceGroupRow, DeviceGroupStore } from '../device-group-store.js';
import { deviceCondition } from '../devices/device-condition.js';
import type { Page, PageRequest } from '../page.js';
import { RegistryError } from '../registry-error.js';
import { deviceScopeOf } from '../access-scope/device-scope.js';
import { noteGroupZones } from './group-zones.js';

interface GroupRecord {
  readonly id: string;
  readonly name: string;
  readonly filter: GroundFilter;
  readonly time_zone: string | null;
  readonly voice_urls: readonly string[];
}

const COLUMNS = 'g.id, g.name, g.filter, g.time_zone, g.voice_urls';

type Refused = Exclude<DeviceGroupAnswer, { readonly kind: 'saved' }>;

export class PgDeviceGroupStore implements DeviceGroupStore {
  constructor(private readonly database: Database) {}

  async create(
    group: Omit<DeviceGroupRow, 'id'>,
    { groupsMax, at, by }: Parameters<DeviceGroupStore['create']>[1],
  ): Promise<DeviceGroupAnswer> {
    const row = { ...group, id: v7({ msecs: at }) };
    return (
      (await this.#refuseFilter(row)) ??
      audited(
        this.database,
        by,
        async (transaction) => {
          await lockGroups(transaction);
          const [taken] = await transaction.query<{ groups: number; named: number }>(
            {
              text: 'SELECT count(*)::int AS groups, (count(*) FILTER (WHERE name = $1))::int AS named FROM device_group',
            },
            [storableText(row.name)],
          );
          if (taken !== undefined && taken.named > 0) return { kind: 'NAME_TAKEN' };
          if (taken !== undefined && taken.groups >= groupsMax) return { kind: 'FULL' };
          await transaction.query(
            { text: 'INSERT INTO device_group (id, name, filter, time_zone, voice_urls) VALUES ($1, $2, $3, $4, $5)' },
            valuesOf(row),
          );
          await noteGroupZones(transaction, [row]);
          return { kind: 'saved', group: row };
        },
        (answer) => actsOn(answer, 'group.created', at),
      )
    );
  }

  async update(
    group: DeviceGroupRow,
    { at, by }: Parameters<DeviceGroupStore['update']>[1],
  ): Promise<DeviceGroupAnswer> {
    return (
      (await this.#refuseFilter(group)) ??
      audited(
        this.database,
        by,
        async (transaction) => {
          await lockGroups(transaction);
          const [before] = await readGroups(transaction, [group.id]);
          if (before === undefined) return { kind: 'NOT_FOUND' };
          const namesakes = await transaction.query({ text: 'SELECT FROM device_group WHERE name = $1 AND id <> $2' }, [
            storableText(group.name),
            before.id,
          ]);
          if (namesakes.length > 0) return { kind: 'NAME_TAKEN' };
          const after = { ...group, id: before.id };
          await transaction.query(
            { text: 'UPDATE device_group SET name = $2, filter = $3, time_zone = $4, voice_urls = $5 WHERE id = $1' },
            valuesOf(after),
          );
          await noteGroupZones(transaction, [before, after]);
          return { kind: 'saved', group: after };
        },
        (answer) => actsOn(answer, 'group.updated', at),
      )
    );
  }

  async remove(id: string, { at, by }: Parameters<DeviceGroupStore['remove']>[1]): Promise<boolean> {
    const removed = await audited(
      this.database,
      by,
      async (transaction): Promise<DeviceGroupAnswer> => {
        await lockGroups(transaction);
        const [group] = await readGroups(transaction, [id]);
        if (group === undefined) return { kind: 'NOT_FOUND' };
        await transaction.query({ text: 'DELETE FROM device_group WHERE id = $1' }, [group.id]);
        await noteGroupZones(transaction, [group]);
        return { kind: 'saved', group };
      },
      (answer) => actsOn(answer, 'group.deleted', at),
    );
    return removed.kind === 'saved';
  }

  async findMany(ids: readonly string[]): Promise<readonly (DeviceGroupRow | undefined)[]> {
    const groups = new Map((await readGroups(this.database, ids)).map((group) => [group.id, group]));
    return ids.map((id) => groups.get(id.toLowerCase()));
  }

  async page(request: PageRequest, ids?: readonly string[]): Promise<Page<DeviceGroupRow>> {
    const after = decodeCursor('device-groups', request, z.tuple([z.string()]));
    const records = await this.database.query<GroupRecord>(
      {
        name: 'device-groups',
        text: `SELECT ${COLUMNS} FROM device_group g
               WHERE ($2::text IS NULL OR g.name > $2) AND ($3::uuid[] IS NULL OR g.id = ANY($3::uuid[])) ORDER BY g.name LIMIT $1`,
      },
      [request.first + 1, after?.[0] ?? null, ids ?? null],
    );
    return toPage(records, request, 'device-groups', ({ name }) => [name], toGroup);
  }

  async deviceCounts(groups: readonly DeviceGroupRow[], within?: DeviceFilter): Promise<readonly number[]> {
    if (groups.length === 0) return [];
    const parameters: unknown[] = [];
    const isSeen = await deviceScopeOf(this.database, within);
    const counts = groups.map(
      ({ filter }) =>
        `(SELECT count(*) FROM device d WHERE ${deviceCondition(filter, parameters)} AND ${isSeen('d.id', parameters)})`,
    );
    const [row] = await this.database.query<{ counts: readonly number[] }>(
      { text: `SELECT ARRAY[${counts.join(', ')}]::int[] AS counts` },
      parameters,
    );
    return row?.counts ?? [];
  }

  async groupsOf(deviceIds: readonly string[]): Promise<readonly (readonly DeviceGroupRow[])[]> {
    const all = await this.database.query<GroupRecord>(
      { name: 'all-groups', text: `SELECT ${COLUMNS} FROM device_group g ORDER BY g.name` },
      [],
    );
    if (all.length === 0) return deviceIds.map(() => []);
    const parameters: unknown[] = [deviceIds.map(storableText)];
    const matches = all.map(({ filter }) => `(${deviceCondition(filter, parameters)}) IS TRUE`);
    const rows = await this.database.query<{ id: string; matches: readonly boolean[] }>(
      { text: `SELECT d.id, ARRAY[${matches.join(', ')}] AS matches FROM device d WHERE d.id = ANY($1::text[])` },
      parameters,
    );
    const groups = all.map(toGroup);
    const byDevice = new Map(
      rows.map((row) => [row.id, groups.filter((_group, index) => row.matches[index] === true)]),
    );
    return deviceIds.map((id) => byDevice.get(id) ?? []);
  }

  async voiceUrlsOf(deviceId: string): Promise<readonly string[]> {
    const groups = await this.database.query<GroupRecord>(
      {
        name: 'groups-with-a-voice',
        text: `SELECT ${COLUMNS} FROM device_group g WHERE g.voice_urls <> '{}' ORDER BY g.name`,
      },
      [],
    );
    const parameters: unknown[] = [storableText(deviceId)];
    const cases = groups.map(
      ({ filter, voice_urls }) =>
        `WHEN ${deviceCondition(filter, parameters)} THEN ${bind(parameters, voice_urls)}::text[]`,
    );
    const ofGroups = cases.length === 0 ? `'{}'::text[]` : `CASE ${cases.join(' ')} ELSE '{}'::text[] END`;
    const [row] = await this.database.query<{ readonly urls: readonly string[] }>(
      {
        text: `SELECT CASE WHEN d.voice_urls <> '{}' THEN d.voice_urls ELSE ${ofGroups} END AS urls FROM device d WHERE d.id = $1`,
      },
      parameters,
    );
    return row?.urls ?? [];
  }

  /** By asking: whether PostgreSQL can say who matches. */
  async #refuseFilter({ filter }: Pick<DeviceGroupRow, 'filter'>): Promise<Refused | undefined> {
    const parameters: unknown[] = [];
    const condition = deviceCondition(filter, parameters);
    try {
      await this.database.query(
        { text: `SELECT FROM device d WHERE ${condition} LIMIT ${bind(parameters, 1)}` },
        parameters,
      );
      return undefined;
    } catch (error) {
      if (error instanceof RegistryError && error.code === 'DATABASE_REFUSED') return { kind: 'FILTER_INVALID' };
      throw error;
    }
  }
}

/**
 * Writers take turns: names are unique, their number is bounded, and devices whose tags change wait
 * for what they may come into.
 */
async function lockGroups(transaction: Queryable): Promise<void> {
  await transaction.query({ text: 'LOCK TABLE device_group IN SHARE ROW EXCLUSIVE MODE' }, []);
}

async function readGroups(db: Queryable, ids: readonly string[]): Promise<readonly DeviceGroupRow[]> {
  const records = await db.query<GroupRecord>(
    { name: 'groups-by-id', text: `SELECT ${COLUMNS} FROM device_group g WHERE g.id = ANY($1::uuid[])` },
    [ids.filter(isUuid)],
  );
  return records.map(toGroup);
}

function toGroup({ id, name, filter, time_zone: timeZone, voice_urls: voiceUrls }: GroupRecord): DeviceGroupRow {
  return { id, name, filter, timeZone: timeZone ?? undefined, voiceUrls };
}

function valuesOf({ id, name, filter, timeZone, voiceUrls }: DeviceGroupRow): unknown[] {
  return [id, storableText(name), toJson(filter), timeZone, voiceUrls];
}

function actsOn(answer: DeviceGroupAnswer, action: string, at: number): readonly AuditedChange[] {
  if (answer.kind !== 'saved') return [];
  const { id, name, filter, timeZone, voiceUrls } = answer.group;
  return [{ action, subject: `group:${id}`, data: { name, filter, timeZone, voiceUrls }, at }];
}
