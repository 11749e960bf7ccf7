/**
 * Detects the type of a picture by its first bytes, never by the sender's claim. The hub keeps and
 * serves only these types.
 */
import { Transform } from 'node:stream';
import type { TransformCallback } from 'node:stream';
import { UploadRefusal } from './upload-refusal.js';

type PictureType = 'image/jpeg' | 'image/png' | 'image/webp' | 'image/gif';

/** Bytes that determine the type. */
const HEAD_BYTES = 12;

const jpeg = Buffer.from([0xff, 0xd8, 0xff]);
const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function pictureType(head: Buffer): PictureType | undefined {
  if (head.subarray(0, jpeg.length).equals(jpeg)) return 'image/jpeg';
  if (head.subarray(0, png.length).equals(png)) return 'image/png';
  const text = head.toString('latin1');
  if (text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP') return 'image/webp';
  return text.startsWith('GIF87a') || text.startsWith('GIF89a') ? 'image/gif' : undefined;
}

/**
 * Passes pictures through and ends with UploadRefusal UNSUPPORTED_PICTURE before the first byte of
 * anything else.
 */
export class PictureGate extends Transform {
  /** Set after the first bytes. */
  type: PictureType | undefined;
  #head: Buffer | undefined = Buffer.alloc(0);

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    if (this.#head === undefined) return done(null, chunk);
    this.#head = Buffer.concat([this.#head, chunk]);
    if (this.#head.length < HEAD_BYTES) done();
    else this.#decide(this.#head, done);
  }

  override _flush(done: TransformCallback): void {
    if (this.#head === undefined) done();
    else this.#decide(this.#head, done);
  }

  #decide(head: Buffer, done: TransformCallback): void {
    this.#head = undefined;
    this.type = pictureType(head);
    if (this.type !== undefined) done(null, head);
    else
      done(
        new UploadRefusal(
          'UNSUPPORTED_PICTURE',
          'The file is not a picture of a supported type: JPEG, PNG, WebP or GIF.',
        ),
      );
  }
}
