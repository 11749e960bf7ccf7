/** `BLOB_TOO_LARGE`: the source gave more bytes than allowed, nothing is kept. `STORAGE_UNAVAILABLE`: the folder or bucket did not do what was asked; it may later. */
export type StorageErrorCode = 'BLOB_TOO_LARGE' | 'STORAGE_UNAVAILABLE';

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
