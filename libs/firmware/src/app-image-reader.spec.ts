import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { makeAppImage, type AppImageRecipe } from './app-image-maker.js';
import { AppImageReader, type ImageVerdict } from './app-image-reader.js';

const sha256 = () => createHash('sha256');
const image = (recipe: Partial<AppImageRecipe> = {}) => makeAppImage({ version: '2.4.2', hash: sha256(), ...recipe });

function read(file: Uint8Array, chunkBytes = file.length || 1): ImageVerdict {
  const reader = new AppImageReader(sha256());
  for (let at = 0; at < file.length; at += chunkBytes) reader.push(file.subarray(at, at + chunkBytes));
  return reader.end();
}

const codeOf = (file: Uint8Array) => {
  const verdict = read(file);
  return verdict.ok ? 'taken' : verdict.refusal.code;
};

function changed(file: Uint8Array, at: number, value: number): Uint8Array {
  const copy = file.slice();
  copy[at < 0 ? copy.length + at : at] = value;
  return copy;
}

function joined(...parts: readonly (Uint8Array | readonly number[])[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

/** Padding of unwritten flash. */
const blank = (bytes: number) => new Uint8Array(bytes).fill(0xff);

/** Bootloader, partition table and application in one file, as flashed over a cable. */
function merged(bootloaderOffset: number): Uint8Array {
  const file = blank(0x20000);
  file.set(changed(image(), 32, 0), bootloaderOffset);
  file.set([0xaa, 0x50, 1, 2], 0x8000);
  file.set(image(), 0x10000);
  return file;
}

describe('AppImageReader', () => {
  it('reads the description of an image', () => {
    const file = image({
      version: '2.5.0',
      chip: 'esp32c3',
      project: 'lamp',
      elfSha256: '0f'.repeat(32),
      dataBytes: 100_000,
      secureVersion: 3,
      minChipRevision: 101,
      maxChipRevision: 199,
    });
    expect(read(file)).toEqual({
      ok: true,
      image: {
        chip: 'esp32c3',
        version: '2.5.0',
        project: 'lamp',
        idfVersion: 'v5.5.2',
        compiledAt: 'Aug  6 2026 08:49:23',
        elfSha256: '0f'.repeat(32),
        imageBytes: file.length,
        secureVersion: 3,
        minChipRevision: 101,
        maxChipRevision: 199,
        flashMode: 'dio',
        signatureKeys: [],
      },
    });
  });

  it.each([1, 7, 16, 255, 4096])('does not depend on how the bytes are split: %i at a time', (chunkBytes) => {
    expect(read(image(), chunkBytes)).toEqual(read(image()));
    expect(read(merged(0), chunkBytes)).toEqual(read(merged(0)));
  });

  it.each(['esp32', 'esp32s3', 'esp32c3', 'esp32c5', 'esp32c6', 'esp32p4'])('recognises the chip %s', (chip) => {
    expect(read(image({ chip }))).toMatchObject({ ok: true, image: { chip } });
  });

  it.each([0, 0xffff])('reads the highest revision %i as any', (maxChipRevision) => {
    expect(read(image({ maxChipRevision }))).toMatchObject({ ok: true, image: { maxChipRevision: undefined } });
  });

  it('accepts an image without appended hash, and one with a single segment', () => {
    expect(codeOf(makeAppImage({ version: '2.4.2' }))).toBe('taken');
    expect(codeOf(image({ segments: 1 }))).toBe('taken');
  });

  it.each([
    ['an empty file', new Uint8Array(), 'NOT_AN_IMAGE'],
    ['a picture', joined([0x89, 0x50, 0x4e, 0x47], blank(1000)), 'NOT_AN_IMAGE'],
    ['an image of esptool for a chip before ESP-IDF', joined([0xea], image().subarray(1)), 'NOT_AN_IMAGE'],
    ['a merged image of an ESP32-S3', merged(0), 'MERGED_IMAGE'],
    ['a merged image of an ESP32', merged(0x1000), 'MERGED_IMAGE'],
    ['a merged image of an ESP32-P4', merged(0x2000), 'MERGED_IMAGE'],
    ['a bootloader', changed(image({ dataBytes: 20_000 }), 32, 0x50), 'NO_APP_DESCRIPTION'],
    ['an image for an unknown chip', image({ chip: 0x1234 }), 'CHIP_UNKNOWN'],
    ['its first bytes', image().subarray(0, 20), 'TRUNCATED'],
    ['all but its last byte', image().subarray(0, -1), 'TRUNCATED'],
    ['its first half', image().subarray(0, 2000), 'TRUNCATED'],
    ['one without its hash', image().subarray(0, -32), 'TRUNCATED'],
    ['a changed byte of data', changed(image(), 1000, 1), 'CORRUPT'],
    ['a changed checksum', changed(makeAppImage({ version: '2.4.2' }), -1, 1), 'CORRUPT'],
    ['a changed entry address', changed(image(), 5, 1), 'CORRUPT'],
    ['a changed hash', changed(image(), -1, 1), 'CORRUPT'],
    ['no segments', changed(image(), 1, 0), 'CORRUPT'],
    ['a segment of gigabytes', changed(image(), 31, 0xff), 'CORRUPT'],
    ['the version v2.4.2', image({ version: 'v2.4.2' }), 'VERSION_UNUSABLE'],
    ['the version latest', image({ version: 'latest' }), 'VERSION_UNUSABLE'],
    ['the version 2..1', image({ version: '2..1' }), 'VERSION_UNUSABLE'],
    ['no version', image({ version: '' }), 'VERSION_UNUSABLE'],
    ['other data after it', joined(image(), [1, 2, 3]), 'TRAILING_BYTES'],
    ['a lot of data after it', joined(image(), blank(9000)), 'TRAILING_BYTES'],
  ])('refuses %s', (_what, file, code) => {
    expect(codeOf(file)).toBe(code);
  });

  it('accepts padding and the signatures of secure boot after the image', () => {
    const file = image();
    const padding = 4096 - (file.length % 4096);
    expect(codeOf(joined(file, blank(padding)))).toBe('taken');
    expect(codeOf(joined(file, blank(padding), [0xe7, 2], blank(4094)))).toBe('taken');
    expect(codeOf(joined(file, [0, 0, 0, 0], new Array<number>(64).fill(7)))).toBe('taken');
  });

  it('reads the public keys of secure boot 2, and knows when it cannot', () => {
    const file = image();
    const padding = blank(4096 - (file.length % 4096));
    const block = (kind: number, key: readonly number[], hash = 0, digestBytes = 32) => [
      0xe7,
      kind,
      hash,
      0,
      ...new Array<number>(digestBytes).fill(3),
      ...key,
      ...new Array<number>(1216 - 4 - digestBytes - key.length).fill(9),
    ];
    const rsa = new Array<number>(776).fill(5);
    const ecdsa = [2, ...new Array<number>(64).fill(6)];
    const p384 = [3, ...new Array<number>(96).fill(7)];
    const blocks = [...block(2, rsa), ...block(3, ecdsa), ...block(3, p384, 1, 48)];
    const keysOf = (bytes: Uint8Array) => {
      const verdict = read(bytes);
      return verdict.ok ? verdict.image.signatureKeys?.map((key) => [...key]) : verdict.refusal;
    };
    expect(keysOf(joined(file, padding, blocks, blank(4096 - blocks.length)))).toEqual([rsa, ecdsa, p384]);
    expect(keysOf(file)).toEqual([]);
    expect(keysOf(joined(file, padding))).toEqual([]);
    expect(keysOf(joined(file, padding, [0xe7, 4], blank(4094)))).toBeUndefined();
    expect(keysOf(joined(file, [0, 0, 0, 0], new Array<number>(64).fill(7)))).toBeUndefined();
  });

  it('says which partitions a merged image has', () => {
    const file = merged(0);
    file.set([0xaa, 0x50, 0, 0x10, 0, 0, 2, 0, 0, 0, 0x3f, 0, ...Buffer.from('ota_0\0')], 0x8000);
    expect(read(file)).toMatchObject({
      refusal: { message: expect.stringContaining('ota_0 (4128768 bytes at 0x20000)') },
    });
  });

  it('rejects as early as possible, with advice', () => {
    expect(read(image().subarray(0, 2000))).toMatchObject({
      refusal: { message: expect.stringContaining('after 2000 bytes') },
    });
    const reader = new AppImageReader(sha256());
    const refusal = reader.push(image({ version: 'v2', dataBytes: 1_000_000 }).subarray(0, 300));
    expect(refusal?.message).toMatch(/"v2".*restart again and again.*PROJECT_VER/);
    expect(reader.push(new Uint8Array(10))).toBe(refusal);
    expect(reader.end()).toEqual({ ok: false, refusal });
  });
});
