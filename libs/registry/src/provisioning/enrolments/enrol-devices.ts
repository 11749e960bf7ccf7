/**
 * Enrols xiaozhi devices in a transaction that holds their locks: row, identity, and a first
 * credential that replaces all former ones.
 */
import type { DeviceId } from '@flotilla/mcp';
import type { Queryable } from '../../database/database.js';
import { storableText, toJson } from '../../database/json-rows.js';
import { sql, SqlFile } from '../../database/sql-file.js';
import type { BoardFacts, OtaContact } from '../provisioning.js';
import { issueCredentials, lockRows, noteChange } from '../credentials/issue-credentials.js';
import { hashOf } from '../../secrets/secrets.js';

/** A contact with storable texts, and a hash in place of the Client-Id. */
export interface StoredContact extends Omit<OtaContact, 'clientUuid' | 'board' | 'resetReason'> {
  readonly clientUuidHash: string;
  readonly board?: BoardFacts | undefined;
}

/** What an operator gives a device. Missing members change nothing. */
interface GivenNames {
  readonly name?: string | undefined;
  readonly tags?: readonly string[] | undefined;
}

/** A device to enrol, and what it gets. */
export interface Enrolling {
  readonly contact: StoredContact;
  readonly given: GivenNames;
  /**
   * The device is registered and its credential unused: it stays valid, for an operator may have
   * given it to the device.
   */
  readonly keepsCredential: boolean;
}

const ENROL = new SqlFile(new URL('./enrol-devices.sql', import.meta.url), {
  name: 'enrol-devices',
  parameters: { rows: sql.json },
  row: {},
});

/** No device twice. */
export async function enrolDevices(transaction: Queryable, enrolling: readonly Enrolling[]): Promise<void> {
  const [first] = enrolling;
  if (first === undefined) return;
  await ENROL.run(transaction, { rows: toJson(enrolling.map(toRow)) });
  const renewed = enrolling.flatMap(({ contact, keepsCredential }) => (keepsCredential ? [] : [contact.deviceId]));
  if (renewed.length > 0) {
    await lockRows(transaction, renewed);
    await transaction.query({ text: 'DELETE FROM device_credential WHERE device_id = ANY ($1::text[])' }, [renewed]);
    await issueCredentials(transaction, renewed, first.contact.at);
  }
  await noteChange(
    transaction,
    enrolling.map(({ contact }) => contact.deviceId),
  );
}

function toRow({ contact, given }: Enrolling): Readonly<Record<string, unknown>> {
  const { deviceId, clientUuidHash, model, firmwareVersion, board, at } = contact;
  return {
    id: deviceId,
    model,
    firmware_version: firmwareVersion,
    at,
    client_uuid_hash: clientUuidHash,
    chip: board?.chip,
    ota_partitions: board?.otaPartitions,
    elf_sha256: board?.elfSha256,
    board_facts: board?.flash,
    name: given.name === undefined ? undefined : storableText(given.name),
    tags: given.tags && [...new Set(given.tags.map(storableText))].sort(),
  };
}

export function toStoredContact(contact: OtaContact): StoredContact {
  const storable = (text: string | undefined): string | undefined =>
    text === undefined ? undefined : storableText(text);
  return {
    // A parser accepts only MAC addresses, so this changes no id of a device.
    deviceId: storableText(contact.deviceId) as DeviceId,
    clientUuidHash: hashOf(contact.clientUuid),
    model: storable(contact.model),
    firmwareVersion: storable(contact.firmwareVersion),
    remoteAddress: storable(contact.remoteAddress),
    remoteNetwork: storable(contact.remoteNetwork),
    board: contact.board && {
      ...contact.board,
      chip: storable(contact.board.chip),
      elfSha256: storable(contact.board.elfSha256),
    },
    at: contact.at,
  };
}
