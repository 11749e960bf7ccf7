/** Keys become paths and URLs. An invalid key is a programming error of the hub. */
import { StorageError } from './storage-error.js';

const part = '[a-z0-9_-][a-z0-9._-]*';
const key = new RegExp(`^${part}(/${part})*$`);

/** Bytes: the smallest limit of file systems and S3, with space for a prefix. */
const KEY_CHARS_MAX = 200;

/** Files and objects with other names belong to other programs. */
export function isBlobKey(text: string): boolean {
  return text.length <= KEY_CHARS_MAX && key.test(text);
}

export function assertBlobKey(text: string): void {
  if (!isBlobKey(text)) throw new StorageError('BLOB_KEY_INVALID', `"${text}" is not a valid key of a blob.`);
}
