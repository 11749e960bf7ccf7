/**
 * Reads the facts about a board that matter for upgrades: chip, space for a second image, running
 * build. [xiaozhi §7.2]
 */
import { isJsonObject } from '@flotilla/mcp';
import type { JsonObject } from '@flotilla/mcp';
import type { BoardFacts } from '@flotilla/registry';

/** ESP-IDF numbers: type 0 is an application; subtypes 16 to 31 are OTA partitions. */
const APPLICATION = 0;
const OTA_SLOT_FIRST = 16;
const OTA_SLOT_LAST = 31;
/** A flash has at most 95 partitions. */
const PARTITIONS_MAX = 128;

const chipName = /^esp32[a-z0-9]{0,8}$/;
const sha256 = /^[0-9a-f]{64}$/;

export function readBoardFacts(body: JsonObject): BoardFacts {
  const { application, chip_model_name: chip, partition_table: partitions } = body;
  const elfSha256 = isJsonObject(application) ? application['elf_sha256'] : undefined;
  return {
    chip: typeof chip === 'string' && chipName.test(chip) ? chip : undefined,
    otaPartitions: Array.isArray(partitions) && partitions.length > 0 ? countSlots(partitions) : undefined,
    elfSha256: typeof elfSha256 === 'string' && sha256.test(elfSha256) ? elfSha256 : undefined,
  };
}

function countSlots(partitions: readonly unknown[]): number {
  return partitions.slice(0, PARTITIONS_MAX).filter((partition) => {
    if (!isJsonObject(partition)) return false;
    const { subtype, type } = partition;
    return type === APPLICATION && typeof subtype === 'number' && subtype >= OTA_SLOT_FIRST && subtype <= OTA_SLOT_LAST;
  }).length;
}
