/**
 * Issues credentials, records changes for other processes, and locks devices. Used in the
 * transactions that enrol, register and remove devices; checks nothing.
 */
import { enrollingDialect } from '@flotilla/mcp';
import type { DialectName } from '@flotilla/mcp';
import type { Queryable } from '../../database/database.js';
import { toJson } from '../../database/json-rows.js';
import { hashOf, newMqttClientId, newSecret } from '../../secrets/secrets.js';

/** $1: rows. */
const ISSUE = {
  name: 'issue-credentials',
  text: `INSERT INTO device_credential (device_id, generation, mqtt_client_id, secret_hash, secret, issued_at)
         SELECT i.device_id,
           coalesce((SELECT max(c.generation) FROM device_credential c WHERE c.device_id = i.device_id), 0) + 1,
           i.mqtt_client_id, i.secret_hash, i.secret, to_timestamp($2::float8 / 1000)
         FROM json_to_recordset($1) AS i(device_id text, mqtt_client_id text, secret_hash text, secret text)`,
};

/** $1: device ids. */
const DIALECTS = { name: 'dialects-of-devices', text: `SELECT id, dialect FROM device WHERE id = ANY($1::text[])` };

/** $1 device ids. Removes old changes, too: processes read them each second. */
const NOTE = {
  name: 'note-provisioning-changes',
  text: `WITH old AS (
           DELETE FROM provisioning_change WHERE device_id IN (
             SELECT device_id FROM provisioning_change
             WHERE at < now() - interval '1 hour' AND device_id <> ALL ($1::text[]) FOR UPDATE SKIP LOCKED))
         INSERT INTO provisioning_change (device_id, transaction_id, at)
         SELECT DISTINCT id, pg_current_xact_id()::text::bigint, now() FROM unnest($1::text[]) AS id ORDER BY id
         ON CONFLICT (device_id) DO UPDATE SET transaction_id = excluded.transaction_id, at = excluded.at`,
};

/** Each of these devices gets a new credential, its newest. */
export async function issueCredentials(
  transaction: Queryable,
  deviceIds: readonly string[],
  at: number,
): Promise<void> {
  const dialects = await transaction.query<{ id: string; dialect: DialectName }>(DIALECTS, [deviceIds]);
  const dialectOf = new Map(dialects.map(({ id, dialect }) => [id, dialect]));
  const rows = deviceIds.map((deviceId) => {
    const secret = newSecret();
    const mqttClientId = newMqttClientId(deviceId, dialectOf.get(deviceId) ?? enrollingDialect);
    return { device_id: deviceId, mqtt_client_id: mqttClientId, secret_hash: hashOf(secret), secret };
  });
  await transaction.query(ISSUE, [toJson(rows), at]);
}

/** Makes all processes read these devices again, once this transaction commits. */
export async function noteChange(transaction: Queryable, deviceIds: readonly string[]): Promise<void> {
  await transaction.query(NOTE, [deviceIds]);
}

/** Transactions that enrol or remove a device take turns. */
export async function lockDevice(transaction: Queryable, deviceId: string): Promise<void> {
  await transaction.query({ text: 'SELECT pg_advisory_xact_lock($1, hashtext($2))' }, [DEVICE_LOCK, deviceId]);
}

/** The same for many, in one order everywhere. */
export async function lockDevices(transaction: Queryable, deviceIds: readonly string[]): Promise<void> {
  await transaction.query(LOCK_DEVICES, [DEVICE_LOCK, deviceIds]);
}

/**
 * Locks the rows of devices and of their credentials, in the order in which the batches of sessions
 * and of used credentials do, so that none of them can deadlock.
 */
export async function lockRows(transaction: Queryable, deviceIds: readonly string[]): Promise<void> {
  await transaction.query(LOCK_DEVICE_ROWS, [deviceIds]);
  await transaction.query(LOCK_CREDENTIAL_ROWS, [deviceIds]);
}

/** $1 device ids. */
const LOCK_DEVICE_ROWS = {
  name: 'lock-device-rows',
  text: 'SELECT FROM device WHERE id = ANY($1::text[]) ORDER BY id FOR UPDATE',
};

/** $1 device ids. */
const LOCK_CREDENTIAL_ROWS = {
  name: 'lock-credential-rows',
  text: `SELECT FROM device_credential WHERE device_id = ANY($1::text[])
         ORDER BY device_id, generation FOR UPDATE`,
};

/** $1 first number of the lock, $2 device ids. */
const LOCK_DEVICES = {
  name: 'lock-devices',
  text: `SELECT pg_advisory_xact_lock($1::int, i.hash) FROM (
           SELECT DISTINCT hashtext(id) AS hash FROM unnest($2::text[]) AS id ORDER BY hash) AS i`,
};

const DEVICE_LOCK = 460_718_242;
