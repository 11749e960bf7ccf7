/**
 * Changes the transport and the credentials of devices, in the transaction of the caller. The hub
 * dials some devices; these have neither.
 */
import type { DeviceId } from '@flotilla/mcp';
import type { Queryable } from '../../database/database.js';
import type { KnownDevice } from '../provisioning.js';
import { issueCredentials, lockDevice, lockDevices, lockRows, noteChange } from './issue-credentials.js';

/** How long a former credential stays valid: a device may sleep for a night. */
const GRACE_MS = 24 * 60 * 60_000;
/** Unused former credentials that are kept, because a device may still store one. */
const UNUSED_FORMER_MAX = 3;

/** False where there is no such device, or the hub dials it. */
export async function rotateCredential(transaction: Queryable, id: string, at: number): Promise<boolean> {
  await lockDevice(transaction, id);
  await lockRows(transaction, [id]);
  const text = 'SELECT FROM device WHERE id = $1 AND address IS NULL';
  if ((await transaction.query({ text }, [id])).length === 0) return false;
  await renew(transaction, [id], at);
  await noteChange(transaction, [id]);
  return true;
}

/** Devices that the hub dials, and those that have the transport already, stay as they are. */
export async function setTransports(
  transaction: Queryable,
  ids: readonly string[],
  transport: KnownDevice['transport'],
  at: number,
): Promise<{ readonly changed: readonly DeviceId[]; readonly rotated: readonly DeviceId[] }> {
  await lockDevices(transaction, ids);
  await lockRows(transaction, ids);
  const rows = await transaction.query<{ id: DeviceId; keeps_secret: boolean }>(SET_TRANSPORTS, [ids, transport]);
  const rotated = rows.flatMap(({ id, keeps_secret: keeps }) => (keeps ? [] : [id]));
  if (rotated.length > 0) await renew(transaction, rotated, at);
  const changed = rows.map(({ id }) => id);
  await noteChange(transaction, changed);
  return { changed, rotated };
}

/** For many at once: batches of sessions wait for the rows meanwhile. */
async function renew(transaction: Queryable, ids: readonly string[], at: number): Promise<void> {
  await transaction.query(DROP_FORMER, [ids, at, UNUSED_FORMER_MAX]);
  await transaction.query(RETIRE, [ids, at + GRACE_MS]);
  await issueCredentials(transaction, ids, at);
}

/** $1 devices, $2 transport. A secret that is still stored was not used yet. */
const SET_TRANSPORTS = {
  name: 'set-transports',
  text: `UPDATE device d SET preferred_transport = $2::transport_kind
         WHERE d.id = ANY($1::text[]) AND d.address IS NULL
           AND coalesce(d.preferred_transport, 'MQTT') <> $2::transport_kind
         RETURNING d.id, d.dialect <> 'XIAOZHI' OR coalesce((
           SELECT c.secret IS NOT NULL FROM device_credential c WHERE c.device_id = d.id
           ORDER BY c.generation DESC LIMIT 1), true) AS keeps_secret`,
};

/** $1 devices, $2 now, $3 unused former credentials to keep of each. */
const DROP_FORMER = {
  name: 'drop-former-credentials',
  text: `DELETE FROM device_credential c WHERE c.device_id = ANY($1::text[]) AND (
           c.expires_at <= to_timestamp($2::float8 / 1000) OR (c.used_at IS NULL AND c.generation <= (
             SELECT u.generation FROM device_credential u WHERE u.device_id = c.device_id AND u.used_at IS NULL
             ORDER BY u.generation DESC OFFSET $3 LIMIT 1)))`,
};

/** $1 devices, $2 until when the newest credential of each stays valid. Its secret is removed. */
const RETIRE = {
  name: 'retire-credentials',
  text: `UPDATE device_credential
         SET secret = NULL, expires_at = coalesce(expires_at, to_timestamp($2::float8 / 1000))
         WHERE device_id = ANY($1::text[])`,
};
