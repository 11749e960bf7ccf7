/** Judges an uploaded image while its bytes pass on their way to where they are kept. */
import { createHash } from 'node:crypto';
import { AppImageReader, isParsableVersion } from '@flotilla/firmware';
import type { AppImage, ImageRefusalCode } from '@flotilla/firmware';

/** Why an upload was refused. */
export interface UploadRefusal {
  readonly code: ImageRefusalCode | 'TOO_LARGE' | 'INVALID' | 'SIGNATURE_INVALID' | 'SIGNATURE_KEY_UNKNOWN';
  readonly message: string;
}

/** The upload was refused, and its bytes are not kept. */
export class RefusedUpload extends Error {
  override readonly name = 'RefusedUpload';

  constructor(readonly refusal: UploadRefusal) {
    super(refusal.message);
  }
}

/** A check that sees all bytes once. Both methods throw RefusedUpload. */
interface ImageCheck {
  push(chunk: Uint8Array): void;
  end(): void;
}

/** An image that devices can run. */
interface CheckedImage extends Omit<AppImage, 'signatureKeys'> {
  /** Lower-case hex, as `espsecure.py digest_sbv2_public_key` writes them. */
  readonly secureBootKeys: readonly string[] | undefined;
}

/** Reads an application image; `image` is there once the check has ended well. */
export class FirmwareCheck implements ImageCheck {
  image: CheckedImage | undefined;
  readonly #reader = new AppImageReader(createHash('sha256'));

  push(chunk: Uint8Array): void {
    const refusal = this.#reader.push(chunk);
    if (refusal) throw new RefusedUpload(refusal);
  }

  end(): void {
    const verdict = this.#reader.end();
    if (!verdict.ok) throw new RefusedUpload(verdict.refusal);
    const { signatureKeys, ...image } = verdict.image;
    const hashed = signatureKeys?.map((key) => createHash('sha256').update(key).digest('hex'));
    this.image = { ...image, secureBootKeys: hashed };
  }
}

/** First byte of every ESP-IDF image. */
const APP_MAGIC = 0xe9;

/**
 * Assets have no common format and no version, so the uploader gives the version. Empty files and
 * firmware images are refused.
 */
export class AssetsCheck implements ImageCheck {
  #hasBegun = false;

  push(chunk: Uint8Array): void {
    if (!this.#hasBegun && chunk[0] === APP_MAGIC)
      throw new RefusedUpload({ code: 'INVALID', message: 'This is a firmware image: upload it without kind=ASSETS.' });
    this.#hasBegun ||= chunk.length > 0;
  }

  end(): void {
    if (!this.#hasBegun) throw new RefusedUpload({ code: 'NOT_AN_IMAGE', message: 'The file is empty.' });
  }
}

/** What is wrong with what came beside the file, if anything. */
export function refuseFields(kind: 'FIRMWARE' | 'ASSETS', version: string | undefined): UploadRefusal | undefined {
  if (kind === 'FIRMWARE') {
    return version === undefined
      ? undefined
      : {
          code: 'INVALID',
          message: 'A firmware image says its version itself: leave the field "version" out, or say kind=ASSETS.',
        };
  }
  if (version !== undefined && isParsableVersion(version)) return undefined;
  return {
    code: version === undefined ? 'INVALID' : 'VERSION_UNUSABLE',
    message:
      'An assets image needs a field "version" such as 1.2.0 before the file. ' +
      'Each part between the dots begins with a digit.',
  };
}

/** The same bytes, each seen by the check first. */
export async function* checked(source: AsyncIterable<Uint8Array>, check: ImageCheck): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    check.push(chunk);
    yield chunk;
  }
  check.end();
}
