/** Device groups: few rows, each a saved filter. */
import { v7 } from 'uuid';
import { z } from 'zod';
import { audited } from '../audit/append-audit.js';
import type { AuditedChange } from '../audit/audit-entry.js';
import { decodeCursor, toPage } from '../database/cursor.js';
import type { Database, Queryable } from '../database/database.js';
import { storableJson, storableText } from '../database/json-rows.js';
import { bind, escapedPattern } from '../database/sql-parameters.js';
import { isUuid } from '../database/uuid-v7.js';
import type { DeviceFilter } from '../device-filter.js';
import { deviceCondition } from '../devices/device-condition.js';
import type { Prisma } from '../generated/prisma/client.js';
import type { Page, PageRequest } from '../page.js';
import { deviceScopeOf } from '../access-scope/device-scope.js';
import { SHOWN, toGroup } from './device-group.js';
import type { DeviceGroupAnswer, DeviceGroupRow, GroupChange, GroupUpdate } from './device-group.js';
import { canAnswer } from './resolve-filter.js';
import { noteGroupZones } from './group-zones.js';

/** More groups than any limit allows: all of them. */
const GROUPS_MAX = 100_000;

/** What a scoped view offers, too. */
export type DeviceGroups = Pick<DeviceGroupStore, keyof DeviceGroupStore>;

export class DeviceGroupStore {
  constructor(private readonly database: Database) {}

  /** FULL where there are `groupsMax` groups. */
  async create(
    group: Omit<DeviceGroupRow, 'id'>,
    { groupsMax, at, by }: GroupChange & { readonly groupsMax: number },
  ): Promise<DeviceGroupAnswer> {
    if (!(await canAnswer(this.database, group.filter))) return { kind: 'FILTER_INVALID' };
    const row = { ...group, id: v7({ msecs: at }) };
    return audited(
      this.database,
      by,
      async (transaction): Promise<DeviceGroupAnswer> => {
        await lockGroups(transaction);
        const refused = await transaction.ask(async (prisma) => {
          if (await isTaken(prisma, row)) return 'NAME_TAKEN' as const;
          if ((await prisma.deviceGroup.count()) >= groupsMax) return 'FULL' as const;
          await prisma.deviceGroup.create({ data: columnsOf(row) });
          return undefined;
        });
        if (refused !== undefined) return { kind: refused };
        await noteGroupZones(transaction, [row]);
        return { kind: 'saved', group: row };
      },
      (answer) => changesOf(answer, 'group.created', at),
    );
  }

  /** Replaces all of it but the id. */
  async update(group: DeviceGroupRow, { at, by, isExpected }: GroupUpdate): Promise<DeviceGroupAnswer> {
    if (!(await canAnswer(this.database, group.filter))) return { kind: 'FILTER_INVALID' };
    if (!isUuid(group.id)) return { kind: 'NOT_FOUND' };
    return audited(
      this.database,
      by,
      async (transaction): Promise<DeviceGroupAnswer> => {
        await lockGroups(transaction);
        const answer = await transaction.ask(async (prisma) => {
          const before = await prisma.deviceGroup.findUnique({ where: { id: group.id }, select: SHOWN });
          if (before === null) return { kind: 'NOT_FOUND' as const };
          if (isExpected?.(toGroup(before)) === false) return { kind: 'OTHER_REVISION' as const };
          const after = { ...group, id: before.id };
          if (await isTaken(prisma, after)) return { kind: 'NAME_TAKEN' as const };
          await prisma.deviceGroup.update({ where: { id: before.id }, data: columnsOf(after) });
          return { kind: 'saved' as const, group: after, before: toGroup(before) };
        });
        if (answer.kind === 'saved') await noteGroupZones(transaction, [answer.before, answer.group]);
        return answer;
      },
      (answer) => changesOf(answer, 'group.updated', at),
    );
  }

  /** False where there is no such group. */
  async remove(id: string, { at, by }: GroupChange): Promise<boolean> {
    if (!isUuid(id)) return false;
    const removed = await audited(
      this.database,
      by,
      async (transaction): Promise<DeviceGroupAnswer> => {
        await lockGroups(transaction);
        const found = await transaction.ask(async (prisma) => {
          const group = await prisma.deviceGroup.findUnique({ where: { id }, select: SHOWN });
          if (group !== null) await prisma.deviceGroup.delete({ where: { id } });
          return group;
        });
        if (found === null) return { kind: 'NOT_FOUND' };
        const group = toGroup(found);
        await noteGroupZones(transaction, [group]);
        return { kind: 'saved', group };
      },
      (answer) => changesOf(answer, 'group.deleted', at),
    );
    return removed.kind === 'saved';
  }

  /** In the order of the input; undefined where there is no such group. */
  async findMany(ids: readonly string[]): Promise<readonly (DeviceGroupRow | undefined)[]> {
    const groups = new Map((await this.#all({ id: { in: ids.filter(isUuid) } })).map((group) => [group.id, group]));
    return ids.map((id) => groups.get(id.toLowerCase()));
  }

  /** By name; only groups of `ids`, and with the text in their names, if they are given. */
  async page(
    request: PageRequest,
    { ids, search }: { readonly ids?: readonly string[]; readonly search?: string } = {},
  ): Promise<Page<DeviceGroupRow>> {
    const after = decodeCursor('device-groups', request, z.tuple([z.string()]));
    const where = {
      name: {
        ...(after === undefined ? {} : { gt: after[0] }),
        ...(search === undefined
          ? {}
          : { contains: escapedPattern(storableText(search)), mode: 'insensitive' as const }),
      },
      ...(ids === undefined ? {} : { id: { in: [...ids] } }),
    };
    return toPage(
      await this.#all(where, request.first + 1),
      request,
      'device-groups',
      ({ name }) => [name],
      (row) => row,
    );
  }

  /** How many devices match now, exactly, in the order of the input; only devices of `within`. */
  async deviceCounts(groups: readonly DeviceGroupRow[], within?: DeviceFilter): Promise<readonly number[]> {
    if (groups.length === 0) return [];
    const parameters: unknown[] = [];
    const isSeen = await deviceScopeOf(this.database, within);
    const counts = groups.map(
      ({ filter }) => `(SELECT count(*) FROM device d
         WHERE ${deviceCondition(filter, parameters)} AND ${isSeen('d.id', parameters)})`,
    );
    const [row] = await this.database.query<{ counts: readonly number[] }>(
      { text: `SELECT ARRAY[${counts.join(', ')}]::int[] AS counts` },
      parameters,
    );
    return row?.counts ?? [];
  }

  /** The groups of each device now, by name, in the order of the input. */
  async groupsOf(deviceIds: readonly string[]): Promise<readonly (readonly DeviceGroupRow[])[]> {
    const groups = await this.#all();
    if (groups.length === 0) return deviceIds.map(() => []);
    const parameters: unknown[] = [deviceIds.map(storableText)];
    const matches = groups.map(({ filter }) => `(${deviceCondition(filter, parameters)}) IS TRUE`);
    const rows = await this.database.query<{ id: string; matches: readonly boolean[] }>(
      { text: `SELECT d.id, ARRAY[${matches.join(', ')}] AS matches FROM device d WHERE d.id = ANY($1::text[])` },
      parameters,
    );
    const byDevice = new Map(
      rows.map((row) => [row.id, groups.filter((_group, index) => row.matches[index] === true)]),
    );
    return deviceIds.map((id) => byDevice.get(id) ?? []);
  }

  /** The voice servers of a device: its own, or those of its first group by name with any. */
  async voiceUrlsOf(deviceId: string): Promise<readonly string[]> {
    const groups = await this.#all({ voiceUrls: { isEmpty: false } });
    const parameters: unknown[] = [storableText(deviceId)];
    const cases = groups.map(
      ({ filter, voiceUrls }) =>
        `WHEN ${deviceCondition(filter, parameters)} THEN ${bind(parameters, voiceUrls)}::text[]`,
    );
    const ofGroups = cases.length === 0 ? `'{}'::text[]` : `CASE ${cases.join(' ')} ELSE '{}'::text[] END`;
    const [row] = await this.database.query<{ readonly urls: readonly string[] }>(
      {
        text: `SELECT CASE WHEN d.voice_urls <> '{}' THEN d.voice_urls ELSE ${ofGroups} END AS urls
               FROM device d WHERE d.id = $1`,
      },
      parameters,
    );
    return row?.urls ?? [];
  }

  /** By name. */
  async #all(where: Prisma.DeviceGroupWhereInput = {}, rowsMax = GROUPS_MAX): Promise<readonly DeviceGroupRow[]> {
    const query = { where, orderBy: { name: 'asc' as const }, select: SHOWN, take: rowsMax };
    return (await this.database.ask((prisma) => prisma.deviceGroup.findMany(query))).map(toGroup);
  }
}

/**
 * Writers take turns, because names are unique and the number of groups is bounded. Changes of tags
 * wait for the groups that the device may join.
 */
async function lockGroups(transaction: Queryable): Promise<void> {
  await transaction.query({ text: 'LOCK TABLE device_group IN SHARE ROW EXCLUSIVE MODE' }, []);
}

async function isTaken(
  prisma: Prisma.TransactionClient,
  { id, name }: Pick<DeviceGroupRow, 'id' | 'name'>,
): Promise<boolean> {
  return (await prisma.deviceGroup.count({ where: { name: storableText(name), id: { not: id } } })) > 0;
}

function columnsOf({ id, name, filter, timeZone, voiceUrls }: DeviceGroupRow) {
  const columns = { id, name: storableText(name), filter: storableJson(filter) };
  return { ...columns, timeZone: timeZone ?? null, voiceUrls: [...voiceUrls] };
}

function changesOf(answer: DeviceGroupAnswer, action: string, at: number): readonly AuditedChange[] {
  if (answer.kind !== 'saved') return [];
  const { id, name, filter, timeZone, voiceUrls } = answer.group;
  return [{ action, subject: `group:${id}`, data: { name, filter, timeZone, voiceUrls }, at }];
}
