/**
 * The list of calls, latest first: the newest rows of both tables, merged by their UUIDv7. A call
 * of a target is listed once it has an answer, or has had none for a second.
 */
import { z } from 'zod';
import { decodeCursor, toPage } from '../database/cursor.js';
import type { Database } from '../database/database.js';
import { grouped } from '../database/grouped.js';
import { storableText } from '../database/json-rows.js';
import { bind, bindDistinct } from '../database/sql-parameters.js';
import type { DeviceFilter } from '../device-filter.js';
import { isUuid, lowestUuidOf } from '../database/uuid-v7.js';
import type { Page, PageRequest } from '../page.js';
import { historyScopeOf } from '../access-scope/history-scope.js';
import { CALL_COLUMNS, TARGET_COLUMNS, TARGET_TABLES, toCallRow } from './call-rows.js';
import type { CallReadRecord, CallRow } from './call-rows.js';

export interface CallFilter {
  readonly deviceId?: string;
  readonly tool?: string;
  readonly outcomes?: readonly NonNullable<CallRow['outcome']>[];
  readonly since?: number;
  readonly until?: number;
  readonly jobId?: string;
  /** The access scope of the viewer. */
  readonly within?: DeviceFilter;
}

/** Columns of the same meaning in both tables. */
interface Names {
  readonly id: string;
  readonly deviceId: string;
  readonly tool: string;
  readonly outcome: string;
}

const CALL: Names = { id: 'c.id', deviceId: 'c.device_id', tool: 'c.tool', outcome: 'c.outcome' };
const TARGET: Names = { id: 't.listed_call_id', deviceId: 't.device_id', tool: 'j.tool', outcome: 't.outcome' };

export async function pageOfCalls(
  database: Database,
  filter: CallFilter,
  request: PageRequest,
): Promise<Page<CallRow>> {
  const after = cursorId(request);
  if (filter.jobId !== undefined && !isUuid(filter.jobId)) return toPage([], request, 'calls', () => [], toCallRow);
  const parameters: unknown[] = [];
  const inScope = await historyScopeOf(database, filter.within);
  const limit = bind(parameters, request.first + 1);
  const { tool, jobId, ...others } = filter;
  const isByJob = filter.deviceId === undefined && (tool !== undefined || jobId !== undefined);
  const targets = [
    ...conditionsOf(TARGET, isByJob ? others : filter, after, parameters),
    inScope(TARGET.deviceId, { uuid: 't.job_id' }, parameters),
  ];
  const ofJob = [
    ...(tool === undefined || !isByJob ? [] : [`j.tool = ${bind(parameters, storableText(tool))}`]),
    ...(jobId === undefined ? [] : [`j.id = ${bind(parameters, jobId)}::uuid`]),
  ].join(' AND ');
  const parts = [
    isByJob
      ? targetsByJob(ofJob, targets, limit)
      : latestTargets(jobId === undefined ? targets : [...targets, ofJob], limit),
  ];
  if (filter.jobId === undefined) {
    const calls = [
      ...conditionsOf(CALL, filter, after, parameters),
      inScope(CALL.deviceId, { uuid: CALL.id }, parameters),
    ];
    parts.push(`(SELECT ${CALL_COLUMNS} FROM call c WHERE ${calls.join(' AND ')} ORDER BY c.id DESC LIMIT ${limit})`);
  }
  const records = await database.query<CallReadRecord>(
    { text: `SELECT * FROM (${parts.join(' UNION ALL ')}) AS calls ORDER BY id DESC LIMIT ${limit}` },
    parameters,
  );
  return toPage(records, request, 'calls', (record) => [record.id], toCallRow);
}

function latestTargets(conditions: readonly string[], limit: string): string {
  const listed = `t.listed_call_id IS NOT NULL AND ${conditions.join(' AND ')}`;
  const inOrder = `ORDER BY t.listed_call_id DESC LIMIT ${limit}`;
  return `(SELECT ${TARGET_COLUMNS} FROM ${TARGET_TABLES} WHERE ${listed} ${inOrder})`;
}

/**
 * Finds the jobs with the newest calls first, by one index lookup (7 µs) per job of the tool. They
 * contain the page. An index of targets by tool would slow every claim.
 */
function targetsByJob(ofJob: string, conditions: readonly string[], limit: string): string {
  const listed = `t.listed_call_id IS NOT NULL AND ${conditions.join(' AND ')}`;
  const newestOf = (jobId: string, columns: string, count: string) =>
    `SELECT ${columns} FROM job_target t WHERE t.job_id = ${jobId} AND ${listed}
     ORDER BY t.listed_call_id DESC LIMIT ${count}`;
  const jobs = `SELECT j.id FROM job j CROSS JOIN LATERAL (${newestOf('j.id', 't.listed_call_id', '1')}) newest
    WHERE ${ofJob} ORDER BY newest.listed_call_id DESC LIMIT ${limit}`;
  const latest = `SELECT t.* FROM (${jobs}) chosen CROSS JOIN LATERAL (${newestOf('chosen.id', 't.*', limit)}) t
    ORDER BY t.listed_call_id DESC LIMIT ${limit}`;
  return `(SELECT ${TARGET_COLUMNS} FROM (${latest}) t JOIN job j ON j.id = t.job_id
    LEFT JOIN job_result r ON r.job_id = t.job_id AND r.hash = t.result_hash)`;
}

/** A page per device, in the order of the input; `starts` bounds the time of the calls. */
export async function pagesOfCalls(
  database: Database,
  deviceIds: readonly string[],
  request: PageRequest,
  starts?: readonly number[],
): Promise<readonly Page<CallRow>[]> {
  const after = cursorId(request);
  const ids = deviceIds.map(storableText);
  const parameters: unknown[] = [ids];
  const from = starts === undefined ? undefined : bind(parameters, starts.map(lowestUuidOf));
  const wanted =
    from === undefined ? 'unnest($1::text[]) AS w(id)' : `unnest($1::text[], ${from}::uuid[]) AS w(id, first)`;
  const isFrom = (id: string) => (from === undefined ? '' : `AND ${id} >= w.first`);
  const limit = bind(parameters, request.first + 1);
  const targets = conditionsOf(TARGET, {}, after, parameters).join(' AND ');
  const calls = conditionsOf(CALL, {}, after, parameters).join(' AND ');
  const records = await database.query<CallReadRecord>(
    {
      text: `SELECT p.* FROM ${wanted} CROSS JOIN LATERAL (SELECT * FROM (
               (SELECT ${TARGET_COLUMNS} FROM ${TARGET_TABLES}
                WHERE t.device_id = w.id AND t.listed_call_id IS NOT NULL AND ${targets} ${isFrom('t.job_id')}
                ORDER BY t.listed_call_id DESC LIMIT ${limit})
               UNION ALL (
                SELECT ${CALL_COLUMNS} FROM call c WHERE c.device_id = w.id AND ${calls} ${isFrom('c.id')}
                ORDER BY c.id DESC LIMIT ${limit})
             ) AS calls ORDER BY id DESC LIMIT ${limit}) p ORDER BY p.id DESC`,
    },
    parameters,
  );
  return grouped(ids, records, (record) => record.device_id).map((own) =>
    toPage(own, request, 'calls', (record) => [record.id], toCallRow),
  );
}

function cursorId(request: PageRequest): string | undefined {
  return decodeCursor('calls', request, z.tuple([z.uuid()]))?.[0];
}

function conditionsOf(names: Names, filter: CallFilter, after: string | undefined, parameters: unknown[]): string[] {
  const conditions = ['TRUE'];
  if (filter.deviceId !== undefined)
    conditions.push(`${names.deviceId} = ${bind(parameters, storableText(filter.deviceId))}`);
  if (filter.tool !== undefined) conditions.push(`${names.tool} = ${bind(parameters, storableText(filter.tool))}`);
  if (filter.outcomes !== undefined)
    conditions.push(`${names.outcome} = ANY(${bindDistinct(parameters, filter.outcomes)}::outcome[])`);
  if (filter.since !== undefined)
    conditions.push(`${names.id} >= ${bind(parameters, lowestUuidOf(filter.since))}::uuid`);
  if (filter.until !== undefined)
    conditions.push(`${names.id} < ${bind(parameters, lowestUuidOf(filter.until))}::uuid`);
  if (after !== undefined) conditions.push(`${names.id} < ${bind(parameters, after)}::uuid`);
  return conditions;
}
