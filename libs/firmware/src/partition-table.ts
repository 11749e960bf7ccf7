/** Reads the partition table of ESP-IDF as it is in the flash, or in a merged image. */

interface Partition {
  readonly label: string;
  readonly isApplication: boolean;
  readonly offset: number;
  readonly bytes: number;
}

/** The table ends at the latest after these bytes. */
export const TABLE_BYTES_MAX = 0xc00;
const ENTRY_BYTES = 32;
const LABEL_AT = 12;
const LABEL_BYTES = 16;
/** First two bytes of an entry. Others follow the last one: a checksum, or unwritten flash. */
const ENTRY_MAGIC = 0x50aa;
/** The value of the type of applications. */
const APPLICATION = 0;

export function readPartitionTable(table: Uint8Array): readonly Partition[] {
  const partitions: Partition[] = [];
  const view = new DataView(table.buffer, table.byteOffset, Math.min(table.byteLength, TABLE_BYTES_MAX));
  for (let at = 0; at + ENTRY_BYTES <= view.byteLength && view.getUint16(at, true) === ENTRY_MAGIC; at += ENTRY_BYTES)
    partitions.push({
      label: labelOf(table.subarray(at + LABEL_AT, at + LABEL_AT + LABEL_BYTES)),
      isApplication: view.getUint8(at + 2) === APPLICATION,
      offset: view.getUint32(at + 4, true),
      bytes: view.getUint32(at + 8, true),
    });
  return partitions;
}

/** Without what is not printable, because people read it in a message. */
function labelOf(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  return String.fromCharCode(...bytes.subarray(0, end < 0 ? bytes.length : end)).replace(/[^\x21-\x7e]/g, '?');
}

/** A sentence about the places for applications, such as for a refusal; empty without any. */
export function slotsText(partitions: readonly Partition[]): string {
  const slots = partitions.filter(({ isApplication }) => isApplication);
  const named = slots.map(({ bytes, label, offset }) => `${label} (${bytes} bytes at 0x${offset.toString(16)})`);
  return named.length === 0 ? '' : `Its partition table has room for applications in ${named.join(', ')}. `;
}
