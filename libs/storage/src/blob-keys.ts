/** The keys of images and uploads, by their id, so that blobs without a row can be found. */

export const IMAGES_PREFIX = 'firmware/';

export function imageKey(imageId: string): string {
  return `${IMAGES_PREFIX}${imageId}`;
}

/** Returns the id of the image with this key. */
export function imageIdOf(key: string): string {
  return key.slice(IMAGES_PREFIX.length);
}

export const UPLOADS_PREFIX = 'uploads/';

export function pictureKey(uploadId: string): string {
  return `${UPLOADS_PREFIX}${uploadId}`;
}

export function thumbnailKey(uploadId: string): string {
  return `${UPLOADS_PREFIX}${uploadId}.thumbnail`;
}

/** Returns the id of the upload with this key. */
export function uploadIdOf(key: string): string {
  return key.slice(UPLOADS_PREFIX.length).split('.', 1)[0] ?? '';
}
