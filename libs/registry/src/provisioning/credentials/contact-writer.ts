/**
 * Records in batches what known devices report in OTA requests: their boots and firmware. Only a
 * request with the right Client-Id counts, because a MAC address is easy to read on the air.
 */
import type { DeviceId } from '@flotilla/mcp';
import { BatchWriter } from '../../database/batch-writer.js';
import type { Queryable } from '../../database/database.js';
import { toJson } from '../../database/json-rows.js';
import { sql, SqlFile, type RowOf } from '../../database/sql-file.js';
import type { NotedContact, OtaContact } from '../provisioning.js';
import type { RegistryLogger } from '../../registry-logger.js';
import { hashOf } from '../../secrets/secrets.js';

const ROWS_PER_WRITE = 500;
const DEPTH_MAX = 20_000;
const GATHER_MS = 20;

const NOTE_CONTACTS = new SqlFile(new URL('./note-contacts.sql', import.meta.url), {
  name: 'note-device-contacts',
  parameters: { rows: sql.json },
  row: { id: sql.text<DeviceId>(), former_version: sql.orNull(sql.text()), firmware_version: sql.orNull(sql.text()) },
});

/** `noted` is called with what each statement has written. */
export function openContactWriter(
  database: Queryable,
  logger: RegistryLogger,
  noted: (contacts: readonly NotedContact[]) => void,
): BatchWriter<OtaContact, undefined> {
  return new BatchWriter<OtaContact, undefined>({
    name: 'device_contact',
    keyOf: (contact) => contact.deviceId,
    rowsPerWrite: ROWS_PER_WRITE,
    depthMax: DEPTH_MAX,
    gatherMs: GATHER_MS,
    logger,
    write: async (contacts) => {
      const records = await NOTE_CONTACTS.run(database, { rows: toJson(contacts.map(toRow)) });
      noted(records.map(toNoted));
      return contacts.map(() => undefined);
    },
  });
}

function toRow({
  deviceId,
  clientUuid,
  model,
  firmwareVersion,
  board,
  resetReason,
  at,
}: OtaContact): Readonly<Record<string, unknown>> {
  return {
    id: deviceId,
    client_uuid_hash: hashOf(clientUuid),
    model,
    firmware_version: firmwareVersion,
    chip: board?.chip,
    ota_partitions: board?.otaPartitions,
    elf_sha256: board?.elfSha256,
    board_facts: board?.flash,
    reset_reason: resetReason,
    at,
  };
}

function toNoted({ id, former_version: former, firmware_version: version }: RowOf<typeof NOTE_CONTACTS>): NotedContact {
  return { deviceId: id, formerVersion: former ?? undefined, firmwareVersion: version ?? undefined };
}
