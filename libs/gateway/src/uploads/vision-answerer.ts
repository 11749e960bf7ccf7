/** Describes photos. Without one, photos are only stored. */

export interface Photo {
  readonly question: string;
  readonly contentType: string;
  readonly picture: Buffer;
}

export interface VisionAnswerer {
  /** Rejects with VisionError; `signal` cancels the request. */
  answer(photo: Photo, signal: AbortSignal): Promise<string>;
}

/** The message is for the asker, so it contains no address and no key. */
export class VisionError extends Error {
  override readonly name = 'VisionError';
  readonly code = 'VISION_FAILED';
}
