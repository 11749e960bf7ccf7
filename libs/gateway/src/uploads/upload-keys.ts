/** Where the bytes of an upload are in the blob store, by its id: whoever looks for blobs without a row reads the id back. */

export const UPLOADS_PREFIX = 'uploads/';

export function pictureKey(uploadId: string): string {
  return `${UPLOADS_PREFIX}${uploadId}`;
}

export function thumbnailKey(uploadId: string): string {
  return `${UPLOADS_PREFIX}${uploadId}.thumbnail`;
}
