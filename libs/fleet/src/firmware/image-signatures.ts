/**
 * Verifies the signature of a stored image. Ed25519 signs the whole message, so the file is read
 * into memory. Only one file is read at a time, with at most IMAGE_BYTES_MAX bytes.
 */
import { verify } from 'node:crypto';
import { promisify } from 'node:util';
import type { ImageSignature, Registry } from '@flotilla/registry';
import { StorageError } from '@flotilla/storage';
import type { BlobStore } from '@flotilla/storage';
import { RefusedUpload } from './check-image.js';
import type { UploadRefusal } from './check-image.js';
import { keyObjectOf } from './public-key.js';

interface ImageSignaturesDeps {
  readonly registry: Pick<Registry, 'signingKeys'>;
  readonly blobs: Pick<BlobStore, 'read'>;
}

/** Bytes of an Ed25519 signature. */
const signatureBytes = 64;
const verifyBytes = promisify(verify);

/** Undefined where the text may be a signature. */
export function refuseSignatureText(signature: string | undefined): UploadRefusal | undefined {
  if (signature === undefined || bytesOf(signature) !== undefined) return undefined;
  return {
    code: 'SIGNATURE_INVALID',
    message: 'A signature is the 64 bytes of Ed25519 in base64, as `flotilla firmware sign` writes it.',
  };
}

export class ImageSignatures {
  #last: Promise<unknown> = Promise.resolve();

  constructor(private readonly deps: ImageSignaturesDeps) {}

  /** The signature and the key that verifies it. Throws RefusedUpload if no key does. */
  verified(storageKey: string, sizeBytes: number, signature: string): Promise<ImageSignature> {
    const turn = this.#last.then(() => this.#verified(storageKey, sizeBytes, signature));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async #verified(storageKey: string, sizeBytes: number, text: string): Promise<ImageSignature> {
    const { blobs, registry } = this.deps;
    const keys = await registry.signingKeys.all();
    if (keys.length === 0) throw new RefusedUpload(noKeys);
    const blob = await blobs.read(storageKey);
    if (blob === undefined) throw new StorageError('STORAGE_UNAVAILABLE', 'The uploaded file cannot be read back.');
    const file = Buffer.concat(await blob.body.toArray(), sizeBytes);
    const signature = bytesOf(text) ?? Buffer.alloc(0);
    for (const { publicKey, fingerprint } of keys)
      if (await verifyBytes(null, file, keyObjectOf(publicKey), signature))
        return { value: signature.toString('base64'), fingerprint };
    throw new RefusedUpload(notVerified);
  }
}

function bytesOf(signature: string): Buffer | undefined {
  // `base64` of Linux breaks its lines.
  const text = signature.replace(/\s/g, '');
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === signatureBytes && /^[A-Za-z0-9+/]+={0,2}$/.test(text) ? bytes : undefined;
}

const howToAdd =
  'An administrator can add a public key with addFirmwareSigningKey, ' +
  'with `flotilla firmware keys add`, or on the page Firmware of the console.';
const noKeys: UploadRefusal = {
  code: 'SIGNATURE_KEY_UNKNOWN',
  message: `The hub has no signing keys, so no signature can be verified. ${howToAdd}`,
};
const notVerified: UploadRefusal = {
  code: 'SIGNATURE_INVALID',
  message:
    'No signing key of the hub verifies this signature. ' +
    'It belongs to another file, or to a key that the hub does not have. ' +
    howToAdd,
};
