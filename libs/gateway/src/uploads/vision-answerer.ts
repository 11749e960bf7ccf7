/** Who says what is on a photo. Without one, photos are only kept. */

export interface Photo {
  readonly question: string;
  readonly contentType: string;
  readonly picture: Buffer;
}

export interface VisionAnswerer {
  /** Rejects with VisionError; `signal` ends the asking. */
  answer(photo: Photo, signal: AbortSignal): Promise<string>;
}

/** The message is for whoever asked: it names no address and no key. */
export class VisionError extends Error {
  override readonly name = 'VisionError';
  readonly code = 'VISION_FAILED';
}
