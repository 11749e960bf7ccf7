/** Why a file is not taken as an image. */
export type ImageRefusalCode =
  /** Not an ESP-IDF image at all. */
  | 'NOT_AN_IMAGE'
  /** Bootloader, partition table and application in one file, for flashing over a cable: over the air it would be written in the place of the application. */
  | 'MERGED_IMAGE'
  /** An ESP-IDF image without application descriptor, such as a bootloader. */
  | 'NO_APP_DESCRIPTION'
  | 'CHIP_UNKNOWN'
  /** The version would make devices abort at each boot. */
  | 'VERSION_UNUSABLE'
  /** Ends before its header says that it does. */
  | 'TRUNCATED'
  /** A checksum or hash is wrong, or a header contradicts itself. */
  | 'CORRUPT'
  /** Bytes behind the image that are neither padding nor a signature. */
  | 'TRAILING_BYTES';

export interface ImageRefusal {
  readonly code: ImageRefusalCode;
  /** A sentence that says what to do. */
  readonly message: string;
}
