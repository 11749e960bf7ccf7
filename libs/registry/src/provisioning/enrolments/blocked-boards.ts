/**
 * Boards that an operator blocked, by device id. Requests read them under the locks of the devices,
 * for every board equally.
 */
import type { DeviceId } from '@flotilla/mcp';
import { z } from 'zod';
import { decodeCursor, toPage } from '../../database/cursor.js';
import type { Queryable, Transaction } from '../../database/database.js';
import { bind } from '../../database/sql-parameters.js';
import { storableText } from '../../database/json-rows.js';
import type { Page, PageRequest } from '../../page.js';
import type { BlockedBoardRow, NewBlock } from '../provisioning.js';
import { lockDevice } from '../credentials/issue-credentials.js';

/** Blocks that have not ended. More of them than this need another answer than single blocks. */
export const BLOCKED_MAX = 10_000;
const LIST = 'blocked_boards';
/** Blocks that are added take turns, so that their number is exact. */
const BLOCKS_LOCK = 4_607_182_422;

interface BlockedRecord {
  readonly device_id: DeviceId;
  readonly model: string | null;
  readonly blocked_by: string;
  readonly blocked_at: Date;
  readonly blocked_until: Date | null;
}

/** A condition: the device is blocked. Both parameters are SQL; `at` is ms since the Unix epoch. */
export function isBlockedBoard(deviceId: string, at: string): string {
  return `EXISTS (SELECT FROM blocked_board b WHERE b.device_id = ${deviceId}
            AND (b.blocked_until IS NULL OR b.blocked_until > to_timestamp(${at}::float8 / 1000)))`;
}

const AMONG = {
  name: 'blocked-among',
  text: `SELECT i.id FROM unnest($1::text[]) AS i(id) WHERE ${isBlockedBoard('i.id', '$2')}`,
};

/** Those of the devices that are blocked. */
export async function blockedAmong(
  transaction: Queryable,
  deviceIds: readonly string[],
  at: number,
): Promise<ReadonlySet<string>> {
  const rows = await transaction.query<{ id: string }>(AMONG, [deviceIds, at]);
  return new Set(rows.map(({ id }) => id));
}

/**
 * Blocks a board, or changes the end of its block. `full` if there are BLOCKED_MAX already. Blocks
 * that have ended are removed.
 */
export async function blockBoard(transaction: Transaction, block: NewBlock): Promise<BlockedBoardRow | 'full'> {
  const { deviceId, blockedBy, blockedAt, blockedUntil } = block;
  await transaction.query({ text: 'SELECT pg_advisory_xact_lock($1)' }, [BLOCKS_LOCK]);
  await lockDevice(transaction, deviceId);
  const at = new Date(blockedAt);
  return transaction.ask(async (prisma) => {
    await prisma.blockedBoard.deleteMany({ where: { blockedUntil: { lte: at } } });
    const others = await prisma.blockedBoard.count({ where: { deviceId: { not: deviceId } } });
    if (others >= BLOCKED_MAX) return 'full';
    const asked = await prisma.enrolment.findFirst({ where: { deviceId }, orderBy: { lastRequestAt: 'desc' } });
    const values = { blockedBy: storableText(blockedBy), blockedAt: at, blockedUntil: dateOf(blockedUntil) };
    const model = asked?.model ?? null;
    const update = { ...values, ...(model !== null && { model }) };
    const kept = await prisma.blockedBoard.upsert({
      where: { deviceId },
      create: { deviceId, model, ...values },
      update,
    });
    return { ...block, model: kept.model ?? undefined };
  });
}

function dateOf(ms: number | undefined): Date | null {
  return ms === undefined ? null : new Date(ms);
}

/** Undefined where the board is not blocked. */
export async function unblockBoard(transaction: Queryable, deviceId: string): Promise<DeviceId | undefined> {
  const id = storableText(deviceId);
  await lockDevice(transaction, id);
  return (await unblockBoards(transaction, [id]))[0];
}

/** Needs the locks of the devices. */
export async function unblockBoards(
  transaction: Queryable,
  deviceIds: readonly string[],
): Promise<readonly DeviceId[]> {
  const text = 'DELETE FROM blocked_board WHERE device_id = ANY($1::text[]) RETURNING device_id';
  const rows = await transaction.query<Pick<BlockedRecord, 'device_id'>>({ text }, [deviceIds]);
  return rows.map(({ device_id: id }) => id);
}

/** The latest first. */
export async function pageOfBlocked(
  database: Queryable,
  request: PageRequest,
  at: number,
): Promise<Page<BlockedBoardRow>> {
  const key = decodeCursor(LIST, request, z.tuple([z.int().nonnegative(), z.string()]));
  const parameters: unknown[] = [at];
  const after =
    key === undefined
      ? ''
      : `AND (b.blocked_at, b.device_id) <
           (to_timestamp(${bind(parameters, key[0])}::float8 / 1000), ${bind(parameters, key[1])}::text)`;
  const records = await database.query<BlockedRecord>(
    {
      text: `SELECT b.device_id, b.model, b.blocked_by, b.blocked_at, b.blocked_until FROM blocked_board b
             WHERE (b.blocked_until IS NULL OR b.blocked_until > to_timestamp($1::float8 / 1000)) ${after}
             ORDER BY b.blocked_at DESC, b.device_id DESC LIMIT ${bind(parameters, request.first + 1)}`,
    },
    parameters,
  );
  return toPage(records, request, LIST, (row) => [row.blocked_at.getTime(), row.device_id], toBlockedRow);
}

function toBlockedRow(record: BlockedRecord): BlockedBoardRow {
  return {
    deviceId: record.device_id,
    model: record.model ?? undefined,
    blockedBy: record.blocked_by,
    blockedAt: record.blocked_at.getTime(),
    blockedUntil: record.blocked_until?.getTime(),
  };
}
