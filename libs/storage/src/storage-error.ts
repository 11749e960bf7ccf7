/**
 * `BLOB_TOO_LARGE`: the source exceeded the limit, and nothing was stored. `STORAGE_UNAVAILABLE`:
 * the folder or bucket failed; a later attempt may succeed. `BLOB_KEY_INVALID`: an error of the
 * caller.
 */
type StorageErrorCode = 'BLOB_TOO_LARGE' | 'STORAGE_UNAVAILABLE' | 'BLOB_KEY_INVALID';

export class StorageError extends Error {
  override readonly name = 'StorageError';

  constructor(
    readonly code: StorageErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
