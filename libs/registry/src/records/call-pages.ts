/** The list of calls, latest first: the newest of both tables, merged by their UUIDv7. */
import { z } from 'zod';
import { decodeCursor, toPage } from '../database/cursor.js';
import type { Database } from '../database/database.js';
import { storableText } from '../database/json-rows.js';
import { bind } from '../database/sql-parameters.js';
import { isUuid, lowestUuidOf } from '../database/uuid-v7.js';
import type { Page, PageRequest } from '../page.js';
import type { CallFilter, CallRow } from '../record-stores.js';
import { CALL_COLUMNS, TARGET_COLUMNS, TARGET_TABLES, toCallRow } from './call-rows.js';
import type { CallReadRecord } from './call-rows.js';

/** What the two tables call the same thing. */
interface Names {
  readonly id: string;
  readonly deviceId: string;
  readonly tool: string;
  readonly outcome: string;
}

const CALL: Names = { id: 'c.id', deviceId: 'c.device_id', tool: 'c.tool', outcome: 'c.outcome' };
const TARGET: Names = { id: 't.call_id', deviceId: 't.device_id', tool: 'j.tool', outcome: 't.outcome' };

export async function pageOfCalls(database: Database, filter: CallFilter, request: PageRequest): Promise<Page<CallRow>> {
  const after = decodeCursor('calls', request, z.tuple([z.uuid()]))?.[0];
  if (filter.jobId !== undefined && !isUuid(filter.jobId)) return toPage([], request, 'calls', () => [], toCallRow);
  const parameters: unknown[] = [];
  const limit = bind(parameters, request.first + 1);
  const targets = conditionsOf(TARGET, filter, after, parameters);
  if (filter.jobId !== undefined) targets.push(`t.job_id = ${bind(parameters, filter.jobId)}::uuid`);
  const parts = [
    `(SELECT ${TARGET_COLUMNS} FROM ${TARGET_TABLES} WHERE t.call_id IS NOT NULL AND ${targets.join(' AND ')} ORDER BY t.call_id DESC LIMIT ${limit})`,
  ];
  if (filter.jobId === undefined) {
    const calls = conditionsOf(CALL, filter, after, parameters);
    parts.push(`(SELECT ${CALL_COLUMNS} FROM call c WHERE ${calls.join(' AND ')} ORDER BY c.id DESC LIMIT ${limit})`);
  }
  const records = await database.query<CallReadRecord>(
    { text: `SELECT * FROM (${parts.join(' UNION ALL ')}) AS calls ORDER BY id DESC LIMIT ${limit}` },
    parameters,
  );
  return toPage(records, request, 'calls', (record) => [record.id], toCallRow);
}

function conditionsOf(names: Names, filter: CallFilter, after: string | undefined, parameters: unknown[]): string[] {
  const conditions = ['TRUE'];
  if (filter.deviceId !== undefined) conditions.push(`${names.deviceId} = ${bind(parameters, storableText(filter.deviceId))}`);
  if (filter.tool !== undefined) conditions.push(`${names.tool} = ${bind(parameters, storableText(filter.tool))}`);
  if (filter.outcomes !== undefined) conditions.push(`${names.outcome} = ANY(${bind(parameters, filter.outcomes)}::outcome[])`);
  if (filter.since !== undefined) conditions.push(`${names.id} >= ${bind(parameters, lowestUuidOf(filter.since))}::uuid`);
  if (filter.until !== undefined) conditions.push(`${names.id} < ${bind(parameters, lowestUuidOf(filter.until))}::uuid`);
  if (after !== undefined) conditions.push(`${names.id} < ${bind(parameters, after)}::uuid`);
  return conditions;
}
