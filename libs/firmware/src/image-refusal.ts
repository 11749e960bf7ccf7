/** Why a file is not accepted as an image. */
export type ImageRefusalCode =
  /** Not an ESP-IDF image at all. */
  | 'NOT_AN_IMAGE'
  /**
   * Bootloader, partition table and application in one file for flashing over a cable. Over the air
   * it would overwrite the application.
   */
  | 'MERGED_IMAGE'
  /** An ESP-IDF image without application descriptor, such as a bootloader. */
  | 'NO_APP_DESCRIPTION'
  | 'CHIP_UNKNOWN'
  /** Devices would abort at each boot because of the version. */
  | 'VERSION_UNUSABLE'
  /** Shorter than its header states. */
  | 'TRUNCATED'
  /** A checksum or hash is wrong, or a header contradicts itself. */
  | 'CORRUPT'
  /** Bytes after the image that are neither padding nor a signature. */
  | 'TRAILING_BYTES';

export interface ImageRefusal {
  readonly code: ImageRefusalCode;
  /** A sentence with advice. */
  readonly message: string;
}
