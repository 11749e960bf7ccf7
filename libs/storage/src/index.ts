export type { BlobStore, KeptBlob } from './blob-store.js';
export { StorageError } from './storage-error.js';
export type { StorageErrorCode } from './storage-error.js';
