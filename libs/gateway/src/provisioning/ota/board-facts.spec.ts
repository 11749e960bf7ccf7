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
    expect(readBoardFacts(body)).toEqual({ chip: 'esp32s3', otaPartitions: 2, elfSha256 });
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
});
