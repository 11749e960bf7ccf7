/** Brings back the stored file of an image that was lost or damaged, from a later upload of it. */
import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import type { FirmwareImageRow } from '@flotilla/registry';
import type { BlobStore } from '@flotilla/storage';

type Blobs = Pick<BlobStore, 'put' | 'read'>;

/** Resolves to whether it replaced the file, by that of `uploadedKey`. Throws StorageError. */
export async function mendStoredFile(
  blobs: Blobs,
  { sha256, sizeBytes, storageKey }: Pick<FirmwareImageRow, 'sha256' | 'sizeBytes' | 'storageKey'>,
  uploadedKey: string,
): Promise<boolean> {
  if ((await hashOf(blobs, storageKey)) === sha256) return false;
  const uploaded = await blobs.read(uploadedKey);
  if (uploaded === undefined) return false;
  const options = { contentType: 'application/octet-stream', maxBytes: sizeBytes };
  await blobs.put(storageKey, uploaded.body, options);
  return true;
}

/** Undefined for a file that is missing or cannot be read to its end. */
async function hashOf(blobs: Blobs, key: string): Promise<string | undefined> {
  const blob = await blobs.read(key);
  if (blob === undefined) return undefined;
  const hash = createHash('sha256');
  return pipeline(blob.body, hash).then(
    () => hash.digest('hex'),
    () => undefined,
  );
}
