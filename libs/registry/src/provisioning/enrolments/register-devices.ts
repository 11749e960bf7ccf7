/** Registers devices before they connect, and removes them, in the transaction of the caller. */
import { MASK, type DeviceId } from '@flotilla/mcp';
import type { AuditedChange } from '../../audit/audit-entry.js';
import type { Queryable } from '../../database/database.js';
import { storableText, toJson } from '../../database/json-rows.js';
import type { DeviceFilter } from '../../device-filter.js';
import type { NewDevice } from '../provisioning.js';
import { hashOf } from '../../secrets/secrets.js';
import { deviceScopeOf } from '../../access-scope/device-scope.js';
import { boundChange } from '../credentials/client-bindings.js';
import { issueCredentials, lockDevice, lockDevices, noteChange } from '../credentials/issue-credentials.js';
import { waitingAmong } from './pending-enrolments.js';

/** $1 rows, $2 now. Fails as a whole if another transaction inserts one of them. */
const REGISTER = {
  text: `WITH input AS MATERIALIZED (
           SELECT * FROM json_to_recordset($1) AS i(
             id text, name text, tags text[], dialect dialect, transport transport_kind, address text,
             client_uuid_hash text, admit_without_code_until float8, dial_by_admin boolean)
         ), returned AS (
           DELETE FROM removed_device r USING input i WHERE r.device_id = i.id RETURNING r.device_id, r.epoch
         )
         INSERT INTO device (id, name, tags, dialect, reachability, transport, preferred_transport, address,
           enrolled_at, epoch, client_uuid_hash, admit_without_code_until, dial_by_admin)
         SELECT i.id, i.name, i.tags, i.dialect,
           CASE WHEN i.transport = 'WEBSOCKET' AND i.dialect = 'XIAOZHI' THEN 'IN_CONVERSATION'
             ELSE 'ALWAYS' END::reachability,
           i.transport, i.transport, i.address, to_timestamp($2::float8 / 1000), coalesce(r.epoch, 0),
           i.client_uuid_hash, to_timestamp(i.admit_without_code_until / 1000), i.dial_by_admin
         FROM input i LEFT JOIN returned r ON r.device_id = i.id ORDER BY i.id`,
};

export async function existingOf(database: Queryable, deviceIds: readonly string[]): Promise<readonly string[]> {
  const rows = await database.query<{ id: string }>(
    { text: 'SELECT id FROM device WHERE id = ANY($1::text[]) ORDER BY id' },
    [deviceIds],
  );
  return rows.map(({ id }) => id);
}

/**
 * Inserts all devices, or returns one that is outside of `within` or waits for an approval, which
 * is not for a caller with an access scope to decide.
 */
export async function insertWithin(
  transaction: Queryable,
  devices: readonly NewDevice[],
  at: number,
  within: DeviceFilter | undefined,
): Promise<string | undefined> {
  const ids = devices.map(({ deviceId }) => deviceId);
  if (within !== undefined) {
    await lockDevices(transaction, ids);
    const waiting = await waitingAmong(transaction, ids, at);
    if (waiting !== undefined) return waiting;
  }
  await transaction.query({ text: 'SAVEPOINT registering' }, []);
  await insertDevices(transaction, devices, at);
  const unseen = await unseenOf(transaction, ids, within);
  if (unseen !== undefined) await transaction.query({ text: 'ROLLBACK TO SAVEPOINT registering' }, []);
  return unseen;
}

/** One of them that is not among those of `within`. */
export async function unseenOf(
  database: Queryable,
  ids: readonly string[],
  within: DeviceFilter | undefined,
): Promise<string | undefined> {
  if (within === undefined || ids.length === 0) return undefined;
  const parameters: unknown[] = [ids];
  const isSeen = (await deviceScopeOf(database, within))('i.id', parameters);
  const text = `SELECT i.id FROM unnest($1::text[]) AS i(id) WHERE (${isSeen}) IS NOT TRUE LIMIT 1`;
  const [unseen] = await database.query<{ readonly id: string }>({ text }, parameters);
  return unseen?.id;
}

async function insertDevices(transaction: Queryable, devices: readonly NewDevice[], at: number): Promise<void> {
  const rows = devices.map(
    ({
      deviceId,
      name,
      tags,
      dialect,
      transport,
      address,
      clientUuid,
      admitWithoutCodeUntil,
      dialByAdmin = false,
    }) => ({
      id: deviceId,
      name,
      tags: [...new Set(tags)].sort(),
      dialect,
      transport,
      address,
      client_uuid_hash: clientUuid === undefined ? undefined : hashOf(clientUuid),
      admit_without_code_until: admitWithoutCodeUntil,
      dial_by_admin: dialByAdmin,
    }),
  );
  const ids = devices.map(({ deviceId }) => deviceId);
  await transaction.query(REGISTER, [toJson(rows), at]);
  // What the hub dials proves nothing: its address is who it is.
  const coming = devices.filter(({ transport }) => transport !== 'TCP').map(({ deviceId }) => deviceId);
  if (coming.length > 0) await issueCredentials(transaction, coming, at);
  // A pending enrolment would be a second way to enrol.
  await transaction.query({ text: 'DELETE FROM enrolment WHERE device_id = ANY($1::text[]) AND admitted_at IS NULL' }, [
    ids,
  ]);
  await noteChange(transaction, ids);
}

/** The audit entries of a registration, without its secret. */
export function registeredChanges(
  { deviceId, clientUuid, admitWithoutCodeUntil, ...data }: NewDevice,
  at: number,
): readonly AuditedChange[] {
  const until = admitWithoutCodeUntil === undefined ? undefined : new Date(admitWithoutCodeUntil).toISOString();
  const masked = { ...data, clientId: clientUuid === undefined ? undefined : MASK, admitWithoutCodeUntil: until };
  const registered = { action: 'device.registered', subject: `device:${deviceId}`, data: masked, at };
  return clientUuid === undefined ? [registered] : [registered, boundChange(deviceId, 'registration', at)];
}

/** $1 device, $2 now. Its open session ends here, for later statements will not find the device. */
const REMOVE = {
  name: 'remove-device',
  text: `WITH gone AS (DELETE FROM device WHERE id = $1 RETURNING id, epoch),
         kept AS (
           INSERT INTO removed_device (device_id, epoch, removed_at)
           SELECT id, epoch, to_timestamp($2::float8 / 1000) FROM gone
           ON CONFLICT (device_id) DO UPDATE
           SET epoch = greatest(removed_device.epoch, excluded.epoch), removed_at = excluded.removed_at),
         ended AS (
           UPDATE session s SET disconnected_at = to_timestamp($2::float8 / 1000), close_reason = 'device_removed'
           FROM gone WHERE s.device_id = gone.id AND s.disconnected_at IS NULL)
         SELECT id FROM gone`,
};

export async function removeDevice(
  transaction: Queryable,
  deviceId: string,
  at: number,
): Promise<DeviceId | undefined> {
  const id = storableText(deviceId);
  await lockDevice(transaction, id);
  const [row] = await transaction.query<{ id: string }>(REMOVE, [id, at]);
  await transaction.query({ text: 'DELETE FROM device_credential WHERE device_id = $1' }, [id]);
  await transaction.query({ text: 'DELETE FROM enrolment WHERE device_id = $1' }, [id]);
  await noteChange(transaction, [id]);
  return row?.id as DeviceId | undefined;
}
