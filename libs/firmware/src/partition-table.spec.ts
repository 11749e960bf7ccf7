import { describe, expect, it } from 'vitest';
import { readPartitionTable, slotsText } from './partition-table.js';

function entry(type: number, offset: number, bytes: number, label: string): Uint8Array {
  const written = new Uint8Array(32);
  const view = new DataView(written.buffer);
  view.setUint16(0, 0x50aa, true);
  view.setUint8(2, type);
  view.setUint32(4, offset, true);
  view.setUint32(8, bytes, true);
  written.set(
    [...label].map((one) => one.charCodeAt(0)),
    12,
  );
  return written;
}

const tableOf = (...entries: readonly Uint8Array[]) =>
  Uint8Array.from([...entries.flatMap((one) => [...one]), 0xeb, 0xeb, ...new Array<number>(62).fill(0xff)]);

describe('a partition table', () => {
  it('names the places for applications, as far as its checksum', () => {
    const table = tableOf(
      entry(1, 0x9000, 0x4000, 'nvs'),
      entry(0, 0x20000, 0x3f0000, 'ota_0'),
      entry(0, 0x410000, 0x3f0000, 'ota_1'),
      entry(1, 0x800000, 0x800000, 'assets'),
    );
    const partitions = readPartitionTable(table);
    expect(partitions.map(({ label }) => label)).toEqual(['nvs', 'ota_0', 'ota_1', 'assets']);
    expect(slotsText(partitions)).toBe(
      'Its partition table has room for applications in ota_0 (4128768 bytes at 0x20000), ' +
        'ota_1 (4128768 bytes at 0x410000). ',
    );
  });

  it('may be cut, empty, or have labels that are not text', () => {
    const table = tableOf(entry(0, 0x10000, 0x100000, 'a label of 16 by'));
    expect(readPartitionTable(table.subarray(0, 40))).toHaveLength(1);
    expect(readPartitionTable(table.subarray(0, 31))).toEqual([]);
    expect(slotsText(readPartitionTable(tableOf()))).toBe('');
    expect(readPartitionTable(tableOf(entry(0, 0, 1, 'x\n\u0007')))[0]?.label).toBe('x??');
    expect(readPartitionTable(table)[0]?.label).toBe('a?label?of?16?by');
  });
});
