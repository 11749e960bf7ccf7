/** Registers devices before they connect, and removes them, in the transaction of the caller. */
import { MASK, type DeviceId } from '@flotilla/mcp';
import type { AuditedChange } from '../../audit/audit-entry.js';
import type { Queryable } from '../../database/database.js';
import { storableText, toJson } from '../../database/json-rows.js';
import { sql, SqlFile } from '../../database/sql-file.js';
import type { DeviceFilter } from '../../device-filter.js';
import type { NewDevice, Registration, RemovedDevice } from '../provisioning.js';
import { hashOf } from '../../secrets/secrets.js';
import { deviceScopeOf } from '../../access-scope/device-scope.js';
import { boundChange } from '../credentials/client-bindings.js';
import { issueCredentials, lockDevices, lockRows, noteChange } from '../credentials/issue-credentials.js';
import { unblockBoards } from './blocked-boards.js';
import { lockPending, undecidedAmong } from './pending-enrolments.js';

const REGISTER = new SqlFile(new URL('./register-devices.sql', import.meta.url), {
  parameters: { rows: sql.json, at: sql.float },
  row: {},
});

/** For a caller with an access scope, an existing device outside of it counts as `beyond`. */
export async function takenAmong(
  database: Queryable,
  ids: readonly DeviceId[],
  within: DeviceFilter | undefined,
): Promise<Exclude<Registration, { readonly kind: 'registered' }> | undefined> {
  const existing = await existingOf(database, ids);
  const unseen = await unseenOf(database, existing, within);
  if (unseen !== undefined) return { kind: 'beyond', deviceId: unseen };
  const conflicts = [...existing, ...repeatedOf(ids)];
  return conflicts.length > 0 ? { kind: 'conflict', conflicts } : undefined;
}

function repeatedOf(ids: readonly string[]): readonly string[] {
  return ids.filter((id, index) => ids.indexOf(id) !== index);
}

async function existingOf(database: Queryable, deviceIds: readonly string[]): Promise<readonly string[]> {
  const rows = await database.query<{ id: string }>(
    { text: 'SELECT id FROM device WHERE id = ANY($1::text[]) ORDER BY id' },
    [deviceIds],
  );
  return rows.map(({ id }) => id);
}

/**
 * Inserts all devices, or returns one that is outside of `within` or that is not for a caller with
 * an access scope to decide.
 */
export async function insertWithin(
  transaction: Queryable,
  devices: readonly NewDevice[],
  at: number,
  within: DeviceFilter | undefined,
): Promise<string | undefined> {
  const ids = devices.map(({ deviceId }) => deviceId);
  await lockPending(transaction, at);
  // An admission that has seen no device would otherwise replace its Client-Id and its credential.
  await lockDevices(transaction, ids);
  if (within !== undefined) {
    const undecided = await undecidedAmong(transaction, ids, at);
    if (undecided !== undefined) return undecided;
  }
  await transaction.query({ text: 'SAVEPOINT registering' }, []);
  await insertDevices(transaction, devices, at);
  const unseen = await unseenOf(transaction, ids, within);
  if (unseen !== undefined) await transaction.query({ text: 'ROLLBACK TO SAVEPOINT registering' }, []);
  return unseen;
}

/** Returns one of the ids that `within` does not match; undefined if it matches all. */
async function unseenOf(
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
  await REGISTER.run(transaction, { rows: toJson(rows), at });
  // A device that the hub dials is identified by its address and needs no credential.
  const coming = devices.filter(({ transport }) => transport !== 'TCP').map(({ deviceId }) => deviceId);
  if (coming.length > 0) await issueCredentials(transaction, coming, at);
  // The registration is the decision of an operator, later than the block.
  await unblockBoards(transaction, ids);
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

/** $1 devices, $2 now. Open sessions end here, for later statements will not find the devices. */
const REMOVE = {
  name: 'remove-devices',
  text: `WITH gone AS (DELETE FROM device WHERE id = ANY($1::text[]) RETURNING id, epoch),
         kept AS (
           INSERT INTO removed_device (device_id, epoch, removed_at)
           SELECT id, epoch, to_timestamp($2::float8 / 1000) FROM gone
           ON CONFLICT (device_id) DO UPDATE
           SET epoch = greatest(removed_device.epoch, excluded.epoch), removed_at = excluded.removed_at),
         ended AS (
           UPDATE session s SET disconnected_at = to_timestamp($2::float8 / 1000), close_reason = 'device_removed'
           FROM gone WHERE s.device_id = gone.id AND s.disconnected_at IS NULL)
         SELECT id, epoch FROM gone`,
};

/** Resolves to those that were there. */
export async function removeDevices(
  transaction: Queryable,
  deviceIds: readonly string[],
  at: number,
): Promise<readonly RemovedDevice[]> {
  const ids = deviceIds.map(storableText);
  await lockPending(transaction, at);
  await lockDevices(transaction, ids);
  await lockRows(transaction, ids);
  const removed = await transaction.query<RemovedDevice>(REMOVE, [ids, at]);
  await transaction.query({ text: 'DELETE FROM device_credential WHERE device_id = ANY($1::text[])' }, [ids]);
  await transaction.query({ text: 'DELETE FROM enrolment WHERE device_id = ANY($1::text[])' }, [ids]);
  await noteChange(transaction, ids);
  return removed;
}
