/** Notes in batches what known devices say of themselves when they ask for their settings. Touches nothing that lets a device in. */
import { BatchWriter } from '../database/batch-writer.js';
import type { Queryable } from '../database/database.js';
import { toJson } from '../database/json-rows.js';
import type { OtaContact } from '../provisioning-store.js';
import type { RegistryLogger } from '../registry-logger.js';

const ROWS_PER_WRITE = 500;
const DEPTH_MAX = 20_000;
const GATHER_MS = 20;

/** $1: rows. Locked in the order of ids, as the presence statements do. What a session said of model and version stays: it tells by them what changed. */
const NOTE_CONTACTS = {
  name: 'note-device-contacts',
  text: `WITH input AS MATERIALIZED (
           SELECT * FROM json_to_recordset($1) AS i(id text, model text, firmware_version text, chip text, ota_partitions int, elf_sha256 text, at float8)
         ), locked AS MATERIALIZED (
           SELECT d.id FROM device d JOIN input USING (id) ORDER BY d.id FOR UPDATE OF d
         )
         UPDATE device d SET model = coalesce(d.model, i.model), firmware_version = coalesce(d.firmware_version, i.firmware_version),
           chip = coalesce(i.chip, d.chip), ota_partitions = coalesce(i.ota_partitions, d.ota_partitions), elf_sha256 = coalesce(i.elf_sha256, d.elf_sha256),
           last_seen_at = greatest(d.last_seen_at, to_timestamp(i.at / 1000))
         FROM locked l JOIN input i USING (id) WHERE d.id = l.id`,
};

export function openContactWriter(database: Queryable, logger: RegistryLogger): BatchWriter<OtaContact, undefined> {
  return new BatchWriter<OtaContact, undefined>({
    name: 'device_contact',
    keyOf: (contact) => contact.deviceId,
    rowsPerWrite: ROWS_PER_WRITE,
    depthMax: DEPTH_MAX,
    gatherMs: GATHER_MS,
    logger,
    write: async (contacts) => {
      const rows = contacts.map(({ deviceId, model, firmwareVersion, board, at }) => ({
        id: deviceId,
        model,
        firmware_version: firmwareVersion,
        ...{ chip: board?.chip, ota_partitions: board?.otaPartitions, elf_sha256: board?.elfSha256 },
        at,
      }));
      await database.query(NOTE_CONTACTS, [toJson(rows)]);
      return contacts.map(() => undefined);
    },
  });
}
