/**
 * Makes valid application images of any chip, version and size for specs, stories, benchmarks and
 * the demo. Simulated devices run them; real ones cannot.
 */
import { DESCRIPTION_BYTES, writeAppDescription } from './app-description.js';
import type { RunningHash } from './app-image-reader.js';
import { chipIdOf } from './chips.js';

export interface AppImageRecipe {
  readonly version: string;
  /** A chip's name, or an unassigned number. Default esp32s3. */
  readonly chip?: string | number;
  readonly project?: string;
  readonly idfVersion?: string;
  /** Lower-case hex; distinguishes builds of one version. */
  readonly elfSha256?: string;
  /** Data of all segments, bytes; default 4,096. The first contains at least the description. */
  readonly dataBytes?: number;
  /** Default 3. */
  readonly segments?: number;
  readonly secureVersion?: number;
  /** In hundreds: 102 is v1.2. Default: any. */
  readonly minChipRevision?: number;
  readonly maxChipRevision?: number;
  /** Without it, the image has no appended SHA-256. */
  readonly hash?: RunningHash;
}

const HEADER_BYTES = 24;
const SEGMENT_HEADER_BYTES = 8;
const BLOCK_BYTES = 16;

export function makeAppImage(recipe: AppImageRecipe): Uint8Array<ArrayBuffer> {
  const { chip = 'esp32s3', dataBytes = 4096, hash, segments = 3 } = recipe;
  const sizes = segmentSizes(dataBytes, segments);
  const body = HEADER_BYTES + sizes.reduce((sum, size) => sum + SEGMENT_HEADER_BYTES + size, 0);
  const checked = body + BLOCK_BYTES - (body % BLOCK_BYTES);
  const image = new Uint8Array(checked + (hash ? 32 : 0));
  const view = new DataView(image.buffer);
  image.set([0xe9, segments, 2, 0x4f]);
  view.setUint32(4, 0x4037_5000, true);
  view.setUint16(12, typeof chip === 'number' ? chip : (chipIdOf(chip) ?? 0xffff), true);
  view.setUint16(15, recipe.minChipRevision ?? 0, true);
  view.setUint16(17, recipe.maxChipRevision ?? 0xffff, true);
  image[23] = hash ? 1 : 0;
  let checksum = 0xef;
  let at = HEADER_BYTES;
  for (const [index, size] of sizes.entries()) {
    view.setUint32(at, 0x3c00_0020 + index * 0x10_0000, true);
    view.setUint32(at + 4, size, true);
    at += SEGMENT_HEADER_BYTES;
    const data = image.subarray(at, at + size);
    fill(data, index);
    if (index === 0) data.set(descriptionOf(recipe));
    for (const byte of data) checksum ^= byte;
    at += size;
  }
  image[checked - 1] = checksum;
  hash?.update(image.subarray(0, checked));
  if (hash) image.set(hash.digest(), checked);
  return image;
}

function descriptionOf({
  version,
  project = 'xiaozhi',
  idfVersion = 'v5.5.2',
  elfSha256 = 'ab'.repeat(32),
  secureVersion = 0,
}: AppImageRecipe): Uint8Array {
  const compiledAt = 'Aug  6 2026 08:49:23';
  return writeAppDescription({ version, project, idfVersion, elfSha256, secureVersion, compiledAt });
}

function segmentSizes(dataBytes: number, segments: number): number[] {
  const each = Math.max(DESCRIPTION_BYTES, Math.floor(dataBytes / segments / 4) * 4);
  return Array.from({ length: segments }, () => each);
}

/** Data that is not constant and quick to generate. */
function fill(data: Uint8Array, index: number): void {
  for (let at = 0; at < data.length; at += 1) data[at] = (at * 31 + index) & 0xff;
}
