export type { BlobBody, BlobStore, ByteRange, KeptBlob } from './blob-store.js';
export { INCOMING_FOLDER } from './folder-blob-store.js';
export { folderProblem, openBlobStore, storageUrlProblem } from './open-blob-store.js';
export { StorageError } from './storage-error.js';
export {
  imageIdOf,
  imageKey,
  IMAGES_PREFIX,
  pictureKey,
  thumbnailKey,
  uploadIdOf,
  UPLOADS_PREFIX,
} from './blob-keys.js';
