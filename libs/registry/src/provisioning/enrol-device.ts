/** Lets one xiaozhi device in, inside somebody's transaction that holds its lock: row, identity, and a first credential in place of all that it had. */
import type { DeviceId } from '@flotilla/mcp';
import type { Queryable } from '../database/database.js';
import { storableText } from '../database/json-rows.js';
import type { BoardFacts, OtaContact } from '../provisioning-store.js';
import { issueCredentials, noteChange } from './issue-credentials.js';
import { hashOf } from './secrets.js';

/** What is stored of a contact: texts that PostgreSQL takes, and a hash in place of the Client-Id. */
export interface StoredContact {
  readonly deviceId: DeviceId;
  readonly clientUuidHash: string;
  readonly model: string | undefined;
  readonly firmwareVersion: string | undefined;
  readonly remoteAddress: string | undefined;
  readonly board?: BoardFacts | undefined;
  readonly at: number;
}

/** What an operator says of it; members that are not there change nothing. */
export interface GivenNames {
  readonly name?: string | undefined;
  readonly tags?: readonly string[] | undefined;
}

/** A device comes back with the epoch that it had when it was removed. A name or tags that are given replace those it has. */
const ENROL = {
  name: 'enrol-device',
  text: `WITH returned AS (DELETE FROM removed_device WHERE device_id = $1 RETURNING epoch)
         INSERT INTO device AS d (id, dialect, reachability, model, firmware_version, last_seen_at, enrolled_at, client_uuid_hash, epoch, name, tags,
           chip, ota_partitions, elf_sha256)
         VALUES ($1, 'XIAOZHI', 'ALWAYS', $2, $3, to_timestamp($4::float8 / 1000), to_timestamp($4::float8 / 1000), $5,
           coalesce((SELECT epoch FROM returned), 0), $6, coalesce($7::text[], '{}'), $8, $9, $10)
         ON CONFLICT (id) DO UPDATE SET
           model = coalesce(excluded.model, d.model), firmware_version = coalesce(d.firmware_version, excluded.firmware_version),
           chip = coalesce(excluded.chip, d.chip), ota_partitions = coalesce(excluded.ota_partitions, d.ota_partitions),
           elf_sha256 = coalesce(excluded.elf_sha256, d.elf_sha256), last_seen_at = greatest(d.last_seen_at, excluded.last_seen_at), enrolled_at = excluded.enrolled_at,
           client_uuid_hash = excluded.client_uuid_hash, name = coalesce(excluded.name, d.name),
           tags = CASE WHEN $7::text[] IS NULL THEN d.tags ELSE excluded.tags END`,
};

export async function enrolDevice(transaction: Queryable, contact: StoredContact, given: GivenNames): Promise<void> {
  const { deviceId, clientUuidHash, model, firmwareVersion, board, at } = contact;
  const tags = given.tags && [...new Set(given.tags.map(storableText))].sort();
  await transaction.query(ENROL, [
    deviceId,
    model,
    firmwareVersion,
    at,
    clientUuidHash,
    given.name === undefined ? undefined : storableText(given.name),
    tags,
    ...[board?.chip, board?.otaPartitions, board?.elfSha256],
  ]);
  await transaction.query({ text: 'DELETE FROM device_credential WHERE device_id = $1' }, [deviceId]);
  await issueCredentials(transaction, [deviceId], at);
  await noteChange(transaction, [deviceId]);
}

/** A registered device's first Client-Id, and no later one. */
export async function bindClient(
  transaction: Queryable,
  { deviceId, clientUuidHash }: Pick<StoredContact, 'deviceId' | 'clientUuidHash'>,
): Promise<void> {
  const rows = await transaction.query(
    { text: 'UPDATE device SET client_uuid_hash = $2 WHERE id = $1 AND client_uuid_hash IS NULL RETURNING id' },
    [deviceId, clientUuidHash],
  );
  if (rows.length > 0) await noteChange(transaction, [deviceId]);
}

export function toStoredContact(contact: OtaContact): StoredContact {
  const storable = (text: string | undefined): string | undefined => (text === undefined ? undefined : storableText(text));
  return {
    // An id that PostgreSQL cannot store is no device's: it comes from a parser that lets only MACs through.
    deviceId: storableText(contact.deviceId) as DeviceId,
    clientUuidHash: hashOf(contact.clientUuid),
    model: storable(contact.model),
    firmwareVersion: storable(contact.firmwareVersion),
    remoteAddress: storable(contact.remoteAddress),
    board: contact.board && { ...contact.board, chip: storable(contact.board.chip), elfSha256: storable(contact.board.elfSha256) },
    at: contact.at,
  };
}
