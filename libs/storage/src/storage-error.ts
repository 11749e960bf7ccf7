/**
 * `BLOB_TOO_LARGE`: the source gave more bytes than allowed, nothing is kept. `STORAGE_UNAVAILABLE`: the folder or bucket did not do what was asked; it
 * may later. `BLOB_KEY_INVALID`: a fault of the caller.
 */
export type StorageErrorCode = 'BLOB_TOO_LARGE' | 'STORAGE_UNAVAILABLE' | 'BLOB_KEY_INVALID';

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
