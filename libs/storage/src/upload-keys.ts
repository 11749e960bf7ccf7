/** Where the bytes of an upload are, by its id: whoever looks for blobs without a row reads the id back. */

export const UPLOADS_PREFIX = 'uploads/';

export function pictureKey(uploadId: string): string {
  return `${UPLOADS_PREFIX}${uploadId}`;
}

export function thumbnailKey(uploadId: string): string {
  return `${UPLOADS_PREFIX}${uploadId}.thumbnail`;
}

/** The id of the upload that a key below the prefix is of. */
export function uploadIdOf(key: string): string {
  return key.slice(UPLOADS_PREFIX.length).split('.', 1)[0] ?? '';
}
