/**
 * What the hub knows of a device: unknown, known with its credentials, or removed. One row of SQL.
 */
import { enrollingDialect } from '@flotilla/mcp';
import type { DeviceId, DialectName, TransportKind } from '@flotilla/mcp';
import type { Queryable } from '../../database/database.js';
import { zoneOfDevice } from '../../groups/group-zones.js';
import type { GroupZone } from '../../groups/group-zones.js';
import type { KnownDevice } from '../provisioning.js';

/** One credential of a device. Times are ms since the Unix epoch. */
export interface Credential {
  readonly generation: number;
  readonly mqttClientId: string;
  readonly secretHash: string;
  /** Until it is used. */
  readonly secret: string | undefined;
  readonly isUsed: boolean;
  /** Undefined for the newest. */
  readonly expiresAt: number | undefined;
}

export interface DeviceCredentials {
  readonly deviceId: DeviceId;
  readonly dialect: DialectName;
  readonly clientUuidHash: string | undefined;
  /** Until then its first Client-Id is bound without a code, ms since the Unix epoch. */
  readonly admitWithoutCodeUntil: number | undefined;
  readonly transport: KnownDevice['transport'];
  /** Its own, or of the first of its groups that has one. */
  readonly timeZone: string | undefined;
  /** Newest first; none: the device is not known. */
  readonly credentials: readonly Credential[];
  /** The device was removed, and needs an approval to return. */
  readonly isRemoved: boolean;
}

interface DeviceRecord {
  readonly id: string;
  readonly dialect: DialectName | null;
  readonly client_uuid_hash: string | null;
  readonly admit_without_code_until: Date | null;
  readonly preferred_transport: TransportKind | null;
  readonly time_zone: string | null;
  readonly is_removed: boolean;
  readonly credentials: readonly CredentialRecord[] | null;
}

interface CredentialRecord {
  readonly generation: number;
  readonly mqtt_client_id: string;
  readonly secret_hash: string;
  readonly secret: string | null;
  readonly is_used: boolean;
  readonly expires_at: number | null;
}

const COLUMNS = 'd.dialect, d.client_uuid_hash, d.admit_without_code_until, d.preferred_transport';

const credentialsOf = (id: string): string => `(
  SELECT json_agg(json_build_object(
      'generation', c.generation, 'mqtt_client_id', c.mqtt_client_id, 'secret_hash', c.secret_hash,
      'secret', c.secret, 'is_used', c.used_at IS NOT NULL,
      'expires_at', extract(epoch FROM c.expires_at) * 1000) ORDER BY c.generation DESC)
  FROM device_credential c WHERE c.device_id = ${id}) AS credentials`;

/** Returns one row per id, also for unknown devices. The ids must be storable texts. */
export function readDeviceCredentials(
  database: Queryable,
  deviceIds: readonly string[],
  zones: readonly GroupZone[],
): Promise<readonly DeviceCredentials[]> {
  const parameters: unknown[] = [deviceIds];
  const text = `SELECT i.id, ${COLUMNS}, ${zoneOfDevice(zones, parameters)} AS time_zone,
                  r.device_id IS NOT NULL AS is_removed, ${credentialsOf('i.id')}
                FROM unnest($1::text[]) AS i(id)
                LEFT JOIN device d ON d.id = i.id LEFT JOIN removed_device r ON r.device_id = i.id`;
  return readRows(database, { name: 'credentials-of-devices', text }, parameters, zones);
}

/** Known devices in the order of their ids. */
export function knownAfter(
  database: Queryable,
  deviceId: string,
  rowsMax: number,
  zones: readonly GroupZone[],
): Promise<readonly DeviceCredentials[]> {
  const parameters: unknown[] = [deviceId, rowsMax];
  const text = `SELECT d.id, ${COLUMNS}, ${zoneOfDevice(zones, parameters)} AS time_zone,
                  false AS is_removed, ${credentialsOf('d.id')}
                FROM device d
                WHERE d.id > $1 AND EXISTS (SELECT FROM device_credential c WHERE c.device_id = d.id)
                ORDER BY d.id LIMIT $2`;
  return readRows(database, { name: 'credentials-known-after', text }, parameters, zones);
}

/** Prepared only without groups, because their filters are part of the statement. */
async function readRows(
  database: Queryable,
  { name, text }: { readonly name: string; readonly text: string },
  parameters: unknown[],
  zones: readonly GroupZone[],
): Promise<readonly DeviceCredentials[]> {
  return (await database.query<DeviceRecord>(zones.length === 0 ? { name, text } : { text }, parameters)).map(
    toDeviceCredentials,
  );
}

function toDeviceCredentials(record: DeviceRecord): DeviceCredentials {
  return {
    deviceId: record.id as DeviceId,
    dialect: record.dialect ?? enrollingDialect,
    clientUuidHash: record.client_uuid_hash ?? undefined,
    admitWithoutCodeUntil: record.admit_without_code_until?.getTime(),
    transport: record.preferred_transport === 'WEBSOCKET' ? 'WEBSOCKET' : 'MQTT',
    timeZone: record.time_zone ?? undefined,
    isRemoved: record.is_removed,
    credentials: (record.credentials ?? []).map((credential) => ({
      generation: credential.generation,
      mqttClientId: credential.mqtt_client_id,
      secretHash: credential.secret_hash,
      secret: credential.secret ?? undefined,
      isUsed: credential.is_used,
      expiresAt: credential.expires_at ?? undefined,
    })),
  };
}

/** The device is registered, and no board has used its credential or bound a Client-Id. */
export function isUnclaimed({ clientUuidHash, credentials }: DeviceCredentials): boolean {
  return credentials.length > 0 && clientUuidHash === undefined && !credentials.some(({ isUsed }) => isUsed);
}

/** What an OTA answer needs; undefined for an unknown device. */
export function toKnownDevice(device: DeviceCredentials | undefined): KnownDevice | undefined {
  const [newest] = device?.credentials ?? [];
  if (device === undefined || newest === undefined) return undefined;
  return {
    deviceId: device.deviceId,
    dialect: device.dialect,
    clientUuidHash: device.clientUuidHash,
    transport: device.transport,
    timeZone: device.timeZone,
    credential: {
      mqttClientId: newest.mqttClientId,
      mqttUsername: usernameOf(device.deviceId),
      secret: newest.secret,
    },
  };
}

/** Any constant text would work. This one identifies the device in logs of brokers. */
export function usernameOf(deviceId: string): string {
  return deviceId;
}

/** The state after the use of a credential: older ones are invalid, and the secret is removed. */
export function afterUse(device: DeviceCredentials, used: Credential): DeviceCredentials {
  return {
    ...device,
    credentials: device.credentials
      .filter((credential) => credential.generation >= used.generation)
      .map((credential) => (credential === used ? { ...credential, secret: undefined, isUsed: true } : credential)),
  };
}
