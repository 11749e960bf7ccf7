import { describe, expect, it } from 'vitest';
import { readBoardFacts } from './board-facts.js';

const slot = (label: string, subtype: number) => ({ label, type: 0, subtype, address: 0x20000, size: 4_128_768 });
const nvs = { label: 'nvs', type: 1, subtype: 16, address: 36_864, size: 16_384 };
const elfSha256 = '5d'.repeat(32);

describe('readBoardFacts', () => {
  it('counts the partitions that an upgrade can be written to', () => {
    const body = {
      chip_model_name: 'esp32s3',
      application: { version: '2.4.2', elf_sha256: elfSha256 },
      partition_table: [nvs, slot('ota_0', 16), slot('ota_1', 17)],
    };
    expect(readBoardFacts(body)).toMatchObject({ chip: 'esp32s3', otaPartitions: 2, elfSha256 });
  });

  it('recognises a layout that cannot be upgraded', () => {
    expect(readBoardFacts({ partition_table: [nvs, slot('factory', 0)] })).toMatchObject({ otaPartitions: 0 });
  });

  it.each([
    {},
    { chip_model_name: 7, partition_table: 'none', application: null },
    { chip_model_name: 'esp32'.repeat(10), partition_table: [], application: { elf_sha256: 'abc' } },
  ])('omits missing or invalid values: %j', (body) => {
    expect(readBoardFacts(body)).toEqual({ chip: undefined, otaPartitions: undefined, elfSha256: undefined });
  });

  it('reads the slot of the next image, the flash, and the revision of the chip', () => {
    const other = { ...slot('ota_1', 17), size: 3_000_000 };
    const body = {
      flash_size: 16_777_216,
      chip_info: { revision: 102 },
      partition_table: [other, slot('ota_0', 16), { label: 'assets', type: 1, subtype: 130, address: 1, size: 2 }],
    };
    const common = { flashBytes: 16_777_216, chipRevision: 102, hasAssets: true };
    expect(readBoardFacts({ ...body, ota: { label: 'ota_0' } }).flash).toEqual({ slotBytes: 3_000_000, ...common });
    expect(readBoardFacts({ ...body, ota: { label: 'ota_1' } }).flash).toEqual({ slotBytes: 4_128_768, ...common });
    expect(readBoardFacts({ ...body, ota: { label: 'factory' } }).flash).toEqual({ slotBytes: 4_128_768, ...common });
  });

  it('finds no place for an image where the only slot is the running one', () => {
    const only = { partition_table: [slot('ota_0', 16)], ota: { label: 'ota_0' } };
    expect(readBoardFacts(only)).toMatchObject({ otaPartitions: 0, flash: { slotBytes: undefined } });
    expect(readBoardFacts({ ...only, ota: { label: 'factory' } })).toMatchObject({
      otaPartitions: 1,
      flash: { slotBytes: 4_128_768 },
    });
  });

  it.each([
    { flash_size: -1, chip_info: 'old', ota: 7 },
    { flash_size: 1.5, chip_info: { revision: 1e9 }, ota: null },
  ])('omits values of the flash that cannot be: %j', (odd) => {
    const table = [slot('ota_0', 16), { label: 7 }, null, { ...slot('ota_1', 17), size: '4M' }];
    expect(readBoardFacts({ ...odd, partition_table: table }).flash).toEqual({
      slotBytes: 4_128_768,
      flashBytes: undefined,
      chipRevision: undefined,
      hasAssets: false,
    });
  });
});
