/** When fetching the same image again is no accident any more: the device cannot keep it, and another time would end as those before. */
export const downloadLoop = {
  /** Whole downloads of one image by one device. */
  downloads: 3,
  /** Within so long, ms: a roll-out that is tried again tomorrow is another matter. */
  windowMs: 6 * 3_600_000,
} as const;
