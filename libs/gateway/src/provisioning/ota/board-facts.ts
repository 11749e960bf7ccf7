/**
 * Reads the facts about a board that matter for upgrades: chip, space for a second image, running
 * build. [xiaozhi §7.2]
 */
import { isJsonObject } from '@flotilla/mcp';
import type { JsonObject } from '@flotilla/mcp';
import type { BoardFacts, FlashFacts } from '@flotilla/registry';

/** ESP-IDF numbers: type 0 is an application; subtypes 16 to 31 are OTA partitions. */
const APPLICATION = 0;
const OTA_SLOT_FIRST = 16;
const OTA_SLOT_LAST = 31;
/** A flash has at most 95 partitions. */
const PARTITIONS_MAX = 128;
/** The partition of fonts, sounds and wake words, which xiaozhi has since 2.0. */
const ASSETS_LABEL = 'assets';
/** In hundreds: v99.99. */
const REVISION_MAX = 9_999;

const chipName = /^esp32[a-z0-9]{0,8}$/;
const sha256 = /^[0-9a-f]{64}$/;

export function readBoardFacts(body: JsonObject): BoardFacts {
  const { application, chip_model_name: chip } = body;
  const partitions = readPartitions(body['partition_table']);
  const running = labelIn(body['ota']);
  const elfSha256 = isJsonObject(application) ? application['elf_sha256'] : undefined;
  return {
    chip: typeof chip === 'string' && chipName.test(chip) ? chip : undefined,
    otaPartitions: partitions && countSlots(partitions, running),
    elfSha256: typeof elfSha256 === 'string' && sha256.test(elfSha256) ? elfSha256 : undefined,
    ...(partitions && { flash: flashFacts(body, partitions, running) }),
  };
}

interface Partition {
  readonly label: string;
  readonly subtype: number;
  readonly isApplication: boolean;
  readonly bytes: number;
}

/** Undefined without a usable table. Partitions in another form are left out. */
function readPartitions(table: unknown): readonly Partition[] | undefined {
  if (!Array.isArray(table) || table.length === 0) return undefined;
  return table.slice(0, PARTITIONS_MAX).flatMap((partition: unknown) => {
    if (!isJsonObject(partition)) return [];
    const { label, size, subtype, type } = partition;
    if (typeof label !== 'string' || typeof subtype !== 'number' || !isBytes(size)) return [];
    return [{ label, subtype, isApplication: type === APPLICATION, bytes: size }];
  });
}

function slotsOf(partitions: readonly Partition[]): readonly Partition[] {
  return partitions
    .filter(({ isApplication, subtype }) => isApplication && subtype >= OTA_SLOT_FIRST && subtype <= OTA_SLOT_LAST)
    .sort((one, other) => one.subtype - other.subtype);
}

/** A single slot that the device runs from cannot be written. */
function countSlots(partitions: readonly Partition[], running: string | undefined): number {
  const slots = slotsOf(partitions);
  return slots.length === 1 && slots[0]?.label === running ? 0 : slots.length;
}

/** ESP-IDF writes the next image to the slot after the running one, in the order of subtypes. */
function nextSlot(partitions: readonly Partition[], running: string | undefined): Partition | undefined {
  const slots = slotsOf(partitions);
  const next = slots[(slots.findIndex(({ label }) => label === running) + 1) % Math.max(1, slots.length)];
  return next?.label === running ? undefined : next;
}

function flashFacts(body: JsonObject, partitions: readonly Partition[], running: string | undefined): FlashFacts {
  const { chip_info: chip, flash_size: flashBytes } = body;
  const chipRevision = isJsonObject(chip) ? chip['revision'] : undefined;
  return {
    slotBytes: nextSlot(partitions, running)?.bytes,
    flashBytes: isBytes(flashBytes) ? flashBytes : undefined,
    chipRevision: isBytes(chipRevision) && chipRevision <= REVISION_MAX ? chipRevision : undefined,
    hasAssets: partitions.some(({ isApplication, label }) => !isApplication && label === ASSETS_LABEL),
  };
}

/** The label of the running partition. */
function labelIn(ota: unknown): string | undefined {
  const label = isJsonObject(ota) ? ota['label'] : undefined;
  return typeof label === 'string' ? label : undefined;
}

/** Flash has at most 4 GB. */
function isBytes(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 0xffff_ffff;
}
