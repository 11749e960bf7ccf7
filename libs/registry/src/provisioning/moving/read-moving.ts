/** Reads boards of a former server: pages, counts, and the route of one request. */
import type { DeviceId } from '@flotilla/mcp';
import { z } from 'zod';
import { decodeCursor, toPage } from '../../database/cursor.js';
import type { Queryable } from '../../database/database.js';
import { bind } from '../../database/sql-parameters.js';
import type { Page, PageRequest } from '../../page.js';
import { IS_CREDENTIAL_USED } from '../enrolments/pending-enrolments.js';
import type { MovingBoardRow, MovingCounts, MovingRoute, MovingState } from './moving-board.js';

const LIST = 'moving_boards';

/** Device `d` has bound a Client-Id or used a credential, as `isUnclaimed` says. */
export const IS_HERE = `(d.id IS NOT NULL AND (d.client_uuid_hash IS NOT NULL OR ${IS_CREDENTIAL_USED}))`;
/** Of board `m` with its device `d`: which server answers its next OTA request. */
const STATE = `CASE WHEN m.moved_at IS NOT NULL OR (m.returning_at IS NULL AND ${IS_HERE}) THEN 'MOVED'
  WHEN m.asked_at IS NOT NULL OR m.returning_at IS NOT NULL OR m.released_at IS NOT NULL THEN 'NOT_MOVED'
  ELSE 'UNKNOWN' END`;
const BOARDS = 'moving_board m LEFT JOIN device d ON d.id = m.device_id';

interface MovingRecord {
  readonly device_id: DeviceId;
  readonly state: MovingState;
  readonly is_here: boolean;
  readonly bound_there: boolean | null;
  readonly model: string | null;
  readonly firmware_version: string | null;
  readonly former_name: string | null;
  readonly former_agent: string | null;
  readonly former_user: string | null;
  readonly asked_at: Date | null;
  readonly answered_at: Date | null;
  readonly other_client_at: Date | null;
  readonly moved_at: Date | null;
  readonly moved_by: string | null;
  readonly released_at: Date | null;
  readonly attempted_at: Date | null;
}

const COLUMNS = `m.device_id, ${STATE} AS state, ${IS_HERE} AS is_here, m.bound_there,
  coalesce(m.model, d.model) AS model, coalesce(m.firmware_version, d.firmware_version) AS firmware_version,
  m.former_name, m.former_agent, m.former_user, m.asked_at, m.answered_at, m.other_client_at, m.moved_at, m.moved_by,
  m.released_at, m.attempted_at`;

/** In the order of their ids. */
export async function pageOfMoving(
  database: Queryable,
  { state, ...request }: PageRequest & { readonly state?: MovingState | undefined },
): Promise<Page<MovingBoardRow>> {
  const key = decodeCursor(LIST, request, z.tuple([z.string()]));
  const parameters: unknown[] = [];
  const conditions = [
    ...(state === undefined ? [] : [`${STATE} = ${bind(parameters, state)}`]),
    ...(key === undefined ? [] : [`m.device_id > ${bind(parameters, key[0])}::text`]),
  ];
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  const text = `SELECT ${COLUMNS} FROM ${BOARDS} ${where}
    ORDER BY m.device_id LIMIT ${bind(parameters, request.first + 1)}`;
  const records = await database.query<MovingRecord>({ text }, parameters);
  return toPage(records, request, LIST, (row) => [row.device_id], toMovingRow);
}

/** Those of the boards that are listed, in the order of their ids. */
export async function readMoving(
  database: Queryable,
  deviceIds: readonly string[],
): Promise<readonly MovingBoardRow[]> {
  const text = `SELECT ${COLUMNS} FROM ${BOARDS} WHERE m.device_id = ANY($1::text[]) ORDER BY m.device_id`;
  return (await database.query<MovingRecord>({ name: 'read-moving', text }, [deviceIds])).map(toMovingRow);
}

export async function countMoving(database: Queryable): Promise<MovingCounts> {
  const text = `SELECT ${STATE} AS state, count(*)::int AS boards FROM ${BOARDS} GROUP BY 1`;
  const rows = await database.query<{ state: MovingState; boards: number }>({ name: 'count-moving', text }, []);
  const of = (state: MovingState) => rows.find((row) => row.state === state)?.boards ?? 0;
  return { moved: of('MOVED'), notMoved: of('NOT_MOVED'), unknown: of('UNKNOWN') };
}

const ROUTE = {
  name: 'route-of-moving',
  text: `SELECT moved_at IS NOT NULL AS is_moved, returning_at IS NOT NULL AS is_returning,
           answered_at IS NOT NULL AS is_answered FROM moving_board WHERE device_id = $1`,
};

/** Undefined for a board that is not listed. */
export async function routeOfMoving(database: Queryable, deviceId: string): Promise<MovingRoute | undefined> {
  const [row] = await database.query<{ is_moved: boolean; is_returning: boolean; is_answered: boolean }>(ROUTE, [
    deviceId,
  ]);
  return row && { isMoved: row.is_moved, isReturning: row.is_returning, isAnswered: row.is_answered };
}

function toMovingRow(record: MovingRecord): MovingBoardRow {
  return {
    deviceId: record.device_id,
    state: record.state,
    isHere: record.is_here,
    boundThere: record.bound_there ?? undefined,
    model: record.model ?? undefined,
    firmwareVersion: record.firmware_version ?? undefined,
    formerName: record.former_name ?? undefined,
    formerAgent: record.former_agent ?? undefined,
    formerUser: record.former_user ?? undefined,
    askedAt: record.asked_at?.getTime(),
    answeredAt: record.answered_at?.getTime(),
    otherClientAt: record.other_client_at?.getTime(),
    movedAt: record.moved_at?.getTime(),
    movedBy: record.moved_by ?? undefined,
    releasedAt: record.released_at?.getTime(),
    attemptedAt: record.attempted_at?.getTime(),
  };
}
