/** Moves boards here and back, in the transaction of the caller. */
import type { DeviceId } from '@flotilla/mcp';
import type { Queryable } from '../../database/database.js';
import { storableText, toJson } from '../../database/json-rows.js';
import { issueCredentials, lockDevices, lockRows, noteChange } from '../credentials/issue-credentials.js';
import { evictBoards } from './evict-boards.js';
import type { FormerBoard, MovingAnswer } from './moving-board.js';
import { IS_HERE, readMoving } from './read-moving.js';

/** More boards than one hub holds. Beyond it, a new board takes the place of another one. */
export const MOVING_BOARDS_MAX = 100_000;
/** How long the move of a board that never asked here admits its first Client-Id. */
export const FIRST_CLIENT_MS = 7 * 86_400_000;

/** A moved board that its move does not admit any more, at $4: it was removed, or never came. */
const IS_OVER = `(EXISTS (SELECT FROM removed_device r WHERE r.device_id = m.device_id AND r.removed_at >= m.moved_at)
  OR (m.client_uuid_hash IS NULL AND m.moved_at <= to_timestamp($4::float8 / 1000)
    AND NOT EXISTS (SELECT FROM device d WHERE d.id = m.device_id AND ${IS_HERE})))`;

/** $1 devices, $2 now, $3 who, $4 from when on a move admits the first Client-Id. */
const MOVE = {
  name: 'move-boards',
  text: `UPDATE moving_board m SET moved_at = to_timestamp($2::float8 / 1000), moved_by = $3, returning_at = NULL,
           released_at = NULL, attempted_at = NULL
         WHERE m.device_id = ANY($1::text[]) AND (m.moved_at IS NULL OR ${IS_OVER}) RETURNING m.device_id`,
};

/** $1 devices, $2 now. A board without a credential of this hub has nothing to give back. */
const MOVE_BACK = {
  name: 'move-boards-back',
  text: `UPDATE moving_board m SET moved_at = NULL, moved_by = NULL,
           returning_at = CASE WHEN ${IS_HERE} THEN to_timestamp($2::float8 / 1000) END
         FROM moving_board s LEFT JOIN device d ON d.id = s.device_id
         WHERE s.device_id = m.device_id AND m.device_id = ANY($1::text[]) AND m.returning_at IS NULL
           AND (m.moved_at IS NOT NULL OR ${IS_HERE})
         RETURNING m.device_id`,
};

/** All boards must be listed, or nothing is changed. */
export async function changeMoving(
  transaction: Queryable,
  deviceIds: readonly string[],
  change:
    { readonly to: 'here'; readonly at: number; readonly by: string } | { readonly to: 'there'; readonly at: number },
): Promise<MovingAnswer> {
  const ids = [...new Set(deviceIds.map(storableText))];
  await lockDevices(transaction, ids);
  const listed = new Set<string>((await readMoving(transaction, ids)).map(({ deviceId }) => deviceId));
  const missing = ids.find((id) => !listed.has(id));
  if (missing !== undefined) return { kind: 'missing', deviceId: missing };
  const changed =
    change.to === 'here'
      ? await transaction.query<{ device_id: DeviceId }>(MOVE, [
          ids,
          change.at,
          storableText(change.by),
          change.at - FIRST_CLIENT_MS,
        ])
      : await transaction.query<{ device_id: DeviceId }>(MOVE_BACK, [ids, change.at]);
  return {
    kind: 'changed',
    boards: await readMoving(transaction, ids),
    changed: changed.map(({ device_id: id }) => id),
  };
}

/** $1 device, $2 now. Only one that goes back. */
const RELEASE = {
  name: 'release-board',
  text: `UPDATE moving_board SET returning_at = NULL, released_at = to_timestamp($2::float8 / 1000)
         WHERE device_id = $1 AND returning_at IS NOT NULL RETURNING device_id`,
};

/** $1 device. It stays as a registered device with its name and tags. */
const UNBIND = {
  name: 'unbind-released-board',
  text: `UPDATE device SET client_uuid_hash = NULL, admit_without_code_until = NULL WHERE id = $1 RETURNING id`,
};

/** The former server has answered a board that goes back: its credentials here are void. */
export async function releaseBoard(transaction: Queryable, deviceId: string, at: number): Promise<boolean> {
  const id = storableText(deviceId);
  await lockDevices(transaction, [id]);
  const released = await transaction.query(RELEASE, [id, at]);
  if (released.length === 0) return false;
  await lockRows(transaction, [id]);
  const devices = await transaction.query(UNBIND, [id]);
  await transaction.query({ text: 'DELETE FROM device_credential WHERE device_id = $1' }, [id]);
  if (devices.length > 0) await issueCredentials(transaction, [id], at);
  await noteChange(transaction, [id]);
  return true;
}

/** $1 rows, $2 now, $3 the most boards. */
const ADD = {
  name: 'add-moving-boards',
  text: `INSERT INTO moving_board AS m (device_id, former_name, former_agent, former_user, added_at)
         SELECT i.id, i.name, i.agent, i.former_user, to_timestamp($2::float8 / 1000)
         FROM json_to_recordset($1) AS i(id text, name text, agent text, former_user text)
         WHERE EXISTS (SELECT FROM moving_board x WHERE x.device_id = i.id)
           OR (SELECT count(*) FROM moving_board) < $3
         ORDER BY i.id
         ON CONFLICT (device_id) DO UPDATE SET former_name = coalesce(excluded.former_name, m.former_name),
           former_agent = coalesce(excluded.former_agent, m.former_agent),
           former_user = coalesce(excluded.former_user, m.former_user)
         RETURNING m.device_id`,
};

/** Lists boards that an import names, each once. Resolves to those that are listed then. */
export async function addMoving(
  transaction: Queryable,
  boards: readonly FormerBoard[],
  at: number,
): Promise<readonly DeviceId[]> {
  const byId = new Map(boards.map((board) => [board.deviceId, board]));
  const rows = [...byId.values()].map(({ deviceId, name, agent, user }) => ({
    id: deviceId,
    name,
    agent,
    former_user: user,
  }));
  const add = async (some: typeof rows) =>
    (await transaction.query<{ device_id: DeviceId }>(ADD, [toJson(some), at, MOVING_BOARDS_MAX])).map(
      ({ device_id: id }) => id,
    );
  const added = await add(rows);
  const left = rows.filter(({ id }) => !added.includes(id));
  if (left.length === 0 || (await evictBoards(transaction, left.length, MOVING_BOARDS_MAX)) === 0) return added;
  return [...added, ...(await add(left))];
}

/** $1 rows, $2 ms since the Unix epoch: a later move admits the first Client-Id. */
const ADMITTED = {
  name: 'admitted-by-move',
  text: `SELECT m.device_id FROM json_to_recordset($1) AS i(id text, client_uuid_hash text)
         JOIN moving_board m ON m.device_id = i.id LEFT JOIN removed_device r ON r.device_id = m.device_id
         WHERE m.moved_at IS NOT NULL AND (r.removed_at IS NULL OR r.removed_at < m.moved_at)
           AND (m.client_uuid_hash = i.client_uuid_hash
             OR (m.client_uuid_hash IS NULL AND m.moved_at > to_timestamp($2::float8 / 1000)))`,
};

/** Those of the boards that their move admits, now that they ask with this Client-Id. */
export async function admittedByMove(
  transaction: Queryable,
  contacts: readonly { readonly deviceId: DeviceId; readonly clientUuidHash: string; readonly at: number }[],
): Promise<ReadonlySet<string>> {
  if (contacts.length === 0) return new Set();
  const rows = contacts.map(({ deviceId, clientUuidHash }) => ({ id: deviceId, client_uuid_hash: clientUuidHash }));
  const latest = Math.max(...contacts.map(({ at }) => at));
  const found = await transaction.query<{ device_id: string }>(ADMITTED, [toJson(rows), latest - FIRST_CLIENT_MS]);
  return new Set(found.map(({ device_id: id }) => id));
}
