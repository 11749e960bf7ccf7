/** Where the bytes of a firmware or assets image are, by its id. */

export const IMAGES_PREFIX = 'firmware/';

export function imageKey(imageId: string): string {
  return `${IMAGES_PREFIX}${imageId}`;
}

/** The id of the image that a key below the prefix is of. */
export function imageIdOf(key: string): string {
  return key.slice(IMAGES_PREFIX.length);
}
