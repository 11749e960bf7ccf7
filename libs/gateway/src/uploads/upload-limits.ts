/** Limits of uploads, each with its unit and reason. */

export interface UploadLimits {
  /** A picture, bytes. Cameras produce 10 to 200 KB. [xiaozhi §6.1] */
  readonly pictureBytesMax: number;
  /** The question about a photo, bytes: a few spoken sentences. */
  readonly questionBytesMax: number;
  /** A body without data for this long has ended, ms. */
  readonly silenceMaxMs: number;
  /** A whole body, ms: the largest picture at 25 KB a second, the slowest useful rate. */
  readonly bodyMaxMs: number;
  /**
   * Discarded bytes of a rejected body, because a device that is still sending does not read the
   * answer; and the time for that, ms.
   */
  readonly surplusBytesMax: number;
  readonly surplusMaxMs: number;
  /** Bodies at once in this process. Each holds a file or part of one. */
  readonly atOnceMax: number;
  /** Pictures of one device in a minute. [xiaozhi §4.5] */
  readonly perDeviceMinuteMax: number;
  /**
   * The time for a vision model, ms: the device waits 30 s for the answer and does nothing else.
   * [xiaozhi §6.1]
   */
  readonly visionTimeoutMs: number;
  /** Text of an answer, bytes: under the 6 KB that devices read at once. [xiaozhi §6] */
  readonly answerBytesMax: number;
  /** Pictures that wait for a thumbnail; further ones get none. */
  readonly thumbnailsWaitingMax: number;
  /** Width times height of a decoded picture: a small file can contain a picture of gigabytes. */
  readonly pixelsMax: number;
}

export const defaultUploadLimits: UploadLimits = {
  pictureBytesMax: 5 * 1024 * 1024,
  questionBytesMax: 4 * 1024,
  silenceMaxMs: 10_000,
  bodyMaxMs: 200_000,
  surplusBytesMax: 8 * 1024 * 1024,
  surplusMaxMs: 5_000,
  atOnceMax: 200,
  perDeviceMinuteMax: 20,
  visionTimeoutMs: 20_000,
  answerBytesMax: 5_000,
  thumbnailsWaitingMax: 200,
  pixelsMax: 25_000_000,
};
