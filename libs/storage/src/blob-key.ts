/** Keys become paths and URLs: what is not plainly a key of ours is a fault in the hub, never data from outside. */
import { StorageError } from './storage-error.js';

const part = '[a-z0-9_-][a-z0-9._-]*';
const key = new RegExp(`^${part}(/${part})*$`);

/** Bytes: the least of what file systems and S3 take, with room for a prefix. */
const KEY_CHARS_MAX = 200;

export function assertBlobKey(text: string): void {
  if (text.length > KEY_CHARS_MAX || !key.test(text))
    throw new StorageError('BLOB_KEY_INVALID', `"${text}" cannot be the key of a blob.`);
}
