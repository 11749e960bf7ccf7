/**
 * Reads an ESP-IDF application image as a stream: header, segments, checksum, appended hash and the
 * application's description. Keeps at most 35 KB and rejects as early as it can.
 */
import { DESCRIPTION_BYTES, DESCRIPTION_OFFSET, readAppDescription, toHex } from './app-description.js';
import type { AppDescription } from './app-description.js';
import { chipOf } from './chips.js';
import type { ImageRefusal, ImageRefusalCode } from './image-refusal.js';
import { isTailAllowed, TAIL_BYTES_MAX } from './image-tail.js';
import { readRequirements } from './image-requirements.js';
import type { ImageRequirements } from './image-requirements.js';
import { readPartitionTable, slotsText, TABLE_BYTES_MAX } from './partition-table.js';
import { readSignatureKeys } from './signature-keys.js';
import { isParsableVersion } from './version-text.js';

/** The content of an image's description. */
export interface AppImage extends AppDescription, ImageRequirements {
  readonly chip: string;
  /** Bytes of the image, without padding or signatures after it. */
  readonly imageBytes: number;
  /** Of secure boot 2; undefined if a signature does not name its key. */
  readonly signatureKeys: readonly Uint8Array[] | undefined;
}

export type ImageVerdict =
  { readonly ok: true; readonly image: AppImage } | { readonly ok: false; readonly refusal: ImageRefusal };

/** A running SHA-256, such as Node's. */
export interface RunningHash {
  update(bytes: Uint8Array): unknown;
  digest(): Uint8Array;
}

const MAGIC = 0xe9;
const HEADER_BYTES = 24;
const SEGMENT_HEADER_BYTES = 8;
const SEGMENTS_MAX = 16;
/** The largest flash mapping, bytes. A longer segment indicates corrupt data. */
const SEGMENT_BYTES_MAX = 32 * 1024 * 1024;
const CHECKSUM_SEED = 0xef;
/** Data and checksum together fill blocks of this size. */
const BLOCK_BYTES = 16;
const HASH_BYTES = 32;
/** The position and first bytes of the partition table in a merged image. */
const TABLE_OFFSET = 0x8000;
const TABLE_MAGIC = [0xaa, 0x50] as const;
/** Enough to distinguish a merged image from a bootloader, and to read its partition table. */
const LOOK_BYTES = TABLE_OFFSET + TABLE_BYTES_MAX;
/** The position of the bootloader in a merged image, after padding. */
const BOOTLOADER_OFFSETS = [0, 0x1000, 0x2000] as const;

/** Parts that are kept until complete, and the data of segments, which is skipped. */
type KeptPart = 'head' | 'foreign' | 'segment header' | 'end' | 'hash' | 'tail';

export class AppImageReader {
  #part: KeptPart | 'segment' = 'head';
  /** Bytes of the current part. */
  #kept = new Uint8Array(LOOK_BYTES);
  #keptBytes = 0;
  #wantedBytes = DESCRIPTION_OFFSET + DESCRIPTION_BYTES;
  #offset = 0;
  #segmentsLeft = 0;
  #segmentBytesLeft = 0;
  #checksum = CHECKSUM_SEED;
  #hasHash = false;
  #imageBytes = 0;
  #image: Omit<AppImage, 'imageBytes' | 'signatureKeys'> | undefined;
  #refusal: ImageRefusal | undefined;

  /** `hash` receives the image and is read once. */
  constructor(private readonly hash: RunningHash) {}

  /** Reads the next bytes. Returns a refusal as soon as there is one; the rest is not needed. */
  push(chunk: Uint8Array): ImageRefusal | undefined {
    let rest = chunk;
    while (rest.length > 0 && this.#refusal === undefined) {
      const taken = this.#part === 'segment' ? this.#skip(rest) : this.#keep(this.#part, rest);
      rest = rest.subarray(taken);
    }
    return this.#refusal;
  }

  /** Ends the file. */
  end(): ImageVerdict {
    if (this.#refusal === undefined) this.#judgeEnd();
    if (this.#refusal !== undefined || this.#image === undefined)
      return { ok: false, refusal: this.#refusal ?? notAnImage };
    const signatureKeys = readSignatureKeys(this.#kept.subarray(0, this.#keptBytes), this.#imageBytes);
    return { ok: true, image: { ...this.#image, imageBytes: this.#imageBytes, signatureKeys } };
  }

  #judgeEnd(): void {
    const kept = this.#kept.subarray(0, this.#keptBytes);
    if (this.#part === 'head' && kept[0] !== MAGIC) this.#refusal = notAnImage;
    else if (this.#part === 'foreign') this.#refusal = judgeForeign(kept);
    else if (this.#part !== 'tail')
      this.#refuse(
        'TRUNCATED',
        `The file ends after ${this.#offset + this.#keptBytes} bytes, in the middle of the image. ` +
          'Copy it again and upload all of it.',
      );
    else if (!isTailAllowed(kept, this.#imageBytes)) this.#refuseTail();
  }

  /** Skips bytes of a segment's data. */
  #skip(bytes: Uint8Array): number {
    const data = bytes.subarray(0, this.#segmentBytesLeft);
    this.#sum(data);
    this.#pass(data);
    this.#segmentBytesLeft -= data.length;
    if (this.#segmentBytesLeft === 0) this.#nextSegment();
    return data.length;
  }

  #keep(part: KeptPart, bytes: Uint8Array): number {
    const taken = bytes.subarray(0, this.#wantedBytes - this.#keptBytes);
    this.#kept.set(taken, this.#keptBytes);
    this.#keptBytes += taken.length;
    if (part === 'head' && this.#kept[0] !== MAGIC) this.#look();
    else if (this.#keptBytes === this.#wantedBytes) this.#take(part, this.#kept.slice(0, this.#keptBytes));
    return taken.length;
  }

  /** Processes a complete part. */
  #take(part: KeptPart, bytes: Uint8Array): void {
    switch (part) {
      case 'head':
        return this.#takeHead(bytes);
      case 'foreign':
        this.#refusal = judgeForeign(bytes);
        return;
      case 'segment header':
        return this.#takeSegmentHeader(bytes);
      case 'end':
        return this.#takeEnd(bytes);
      case 'hash':
        return this.#takeHash(bytes);
      case 'tail':
        return this.#refuseTail();
    }
  }

  /** The header, the first segment's header and its beginning, an application's description. */
  #takeHead(head: Uint8Array): void {
    const view = viewOf(head);
    const description = readAppDescription(head.subarray(DESCRIPTION_OFFSET));
    if (description === undefined) return this.#look();
    const chip = chipOf(view.getUint16(12, true));
    this.#segmentsLeft = view.getUint8(1);
    this.#hasHash = view.getUint8(23) === 1;
    if (chip === undefined)
      return this.#refuse(
        'CHIP_UNKNOWN',
        `The image is for a chip with the number ${view.getUint16(12, true)}, which the hub does not support.`,
      );
    if (!isParsableVersion(description.version))
      return this.#refuse('VERSION_UNUSABLE', unusableVersion(description.version));
    if (this.#segmentsLeft < 1 || this.#segmentsLeft > SEGMENTS_MAX)
      return this.#refuse(
        'CORRUPT',
        `The image claims ${this.#segmentsLeft} segments; there are 1 to ${SEGMENTS_MAX}. Build or copy it again.`,
      );
    this.#image = { ...description, ...readRequirements(view), chip };
    this.#pass(head.subarray(0, HEADER_BYTES));
    this.#want('segment header', SEGMENT_HEADER_BYTES);
    this.push(head.subarray(HEADER_BYTES));
  }

  #takeSegmentHeader(header: Uint8Array): void {
    this.#pass(header);
    this.#segmentsLeft -= 1;
    this.#segmentBytesLeft = viewOf(header).getUint32(4, true);
    if (this.#segmentBytesLeft > SEGMENT_BYTES_MAX)
      return this.#refuse(
        'CORRUPT',
        `A segment of the image claims ${this.#segmentBytesLeft} bytes. Build or copy it again.`,
      );
    this.#part = 'segment';
    this.#keptBytes = 0;
    if (this.#segmentBytesLeft === 0) this.#nextSegment();
  }

  #nextSegment(): void {
    if (this.#segmentsLeft > 0) this.#want('segment header', SEGMENT_HEADER_BYTES);
    else this.#want('end', BLOCK_BYTES - (this.#offset % BLOCK_BYTES));
  }

  /** Padding, whose last byte is the checksum. */
  #takeEnd(end: Uint8Array): void {
    this.#pass(end);
    if (end.at(-1) !== this.#checksum)
      return this.#refuse('CORRUPT', 'The checksum of the image is wrong. Build or copy it again.');
    if (this.#hasHash) this.#want('hash', HASH_BYTES);
    else this.#expectTail(this.#offset);
  }

  #takeHash(hash: Uint8Array): void {
    if (toHex(this.hash.digest()) !== toHex(hash))
      return this.#refuse(
        'CORRUPT',
        'The SHA-256 at the end of the image is not that of its content. Build or copy it again.',
      );
    this.#offset += HASH_BYTES;
    this.#expectTail(this.#offset);
  }

  #expectTail(imageBytes: number): void {
    this.#imageBytes = imageBytes;
    // One byte more than allowed, so that a tail of this size is too long.
    this.#want('tail', TAIL_BYTES_MAX + 1);
  }

  /** Collects the bytes that show which kind of wrong file this is. */
  #look(): void {
    this.#part = 'foreign';
    this.#wantedBytes = LOOK_BYTES;
  }

  #want(part: KeptPart, bytes: number): void {
    this.#part = part;
    this.#keptBytes = 0;
    this.#wantedBytes = bytes;
  }

  #pass(bytes: Uint8Array): void {
    this.hash.update(bytes);
    this.#offset += bytes.length;
  }

  #sum(data: Uint8Array): void {
    let sum = this.#checksum;
    for (const byte of data) sum ^= byte;
    this.#checksum = sum;
  }

  #refuseTail(): void {
    this.#refuse(
      'TRAILING_BYTES',
      `The image ends after ${this.#imageBytes} bytes, but other data than a signature follows. ` +
        'Upload the application alone.',
    );
  }

  #refuse(code: ImageRefusalCode, message: string): void {
    this.#refusal = { code, message };
  }
}

const notAnImage: ImageRefusal = {
  code: 'NOT_AN_IMAGE',
  message:
    'This is not an ESP-IDF image: its first byte is not E9. ' +
    'Upload the application file of the build, such as build/xiaozhi.bin.',
};

/** Judges the first bytes of a file that does not begin with an application. */
function judgeForeign(bytes: Uint8Array): ImageRefusal {
  const hasTable = TABLE_MAGIC.every((byte, index) => bytes[TABLE_OFFSET + index] === byte);
  const hasBootloader = BOOTLOADER_OFFSETS.some(
    (offset) => bytes[offset] === MAGIC && bytes.subarray(0, offset).every((byte) => byte === 0xff),
  );
  if (hasTable && hasBootloader)
    return {
      code: 'MERGED_IMAGE',
      message:
        'This is a merged image (bootloader, partition table and application in one) for flashing over ' +
        `a cable. ${slotsText(readPartitionTable(bytes.subarray(TABLE_OFFSET)))}` +
        'Upload the application alone, such as build/xiaozhi.bin.',
    };
  if (bytes[0] !== MAGIC) return notAnImage;
  return bytes.length < DESCRIPTION_OFFSET + DESCRIPTION_BYTES
    ? {
        code: 'TRUNCATED',
        message: `The file ends after ${bytes.length} bytes, before an image ends. Copy it again and upload all of it.`,
      }
    : {
        code: 'NO_APP_DESCRIPTION',
        message:
          'This ESP-IDF image has no application descriptor. It may be a bootloader. ' +
          'Upload the application, such as build/xiaozhi.bin.',
      };
}

function unusableVersion(version: string): string {
  return (
    `Devices cannot read the version "${version}": they would restart again and again. ` +
    'Each part between dots must begin with a digit and have at most nine, as in 2.4.2. ' +
    'Set PROJECT_VER and build again.'
  );
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
