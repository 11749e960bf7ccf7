/** The keys of firmware and assets images, by their id. */

export const IMAGES_PREFIX = 'firmware/';

export function imageKey(imageId: string): string {
  return `${IMAGES_PREFIX}${imageId}`;
}

/** Returns the id of the image with this key. */
export function imageIdOf(key: string): string {
  return key.slice(IMAGES_PREFIX.length);
}
