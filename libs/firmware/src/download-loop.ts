/**
 * When repeated downloads of an image show that the device cannot keep it, so that another one
 * would be wasted.
 */
export const downloadLoop = {
  /** Whole downloads of one image by one device. */
  downloads: 3,
  /** Within this time, ms. A roll-out that is repeated the next day starts from zero. */
  windowMs: 6 * 3_600_000,
} as const;
