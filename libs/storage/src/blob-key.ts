/** Keys become paths and URLs. An invalid key is a programming error of the hub. */
import { StorageError } from './storage-error.js';

const part = '[a-z0-9_-][a-z0-9._-]*';
const key = new RegExp(`^${part}(/${part})*$`);

/** Bytes: the smallest limit of file systems and S3, with space for a prefix. */
const KEY_CHARS_MAX = 200;

export function assertBlobKey(text: string): void {
  if (text.length > KEY_CHARS_MAX || !key.test(text))
    throw new StorageError('BLOB_KEY_INVALID', `"${text}" is not a valid key of a blob.`);
}
