/** Every bound of uploads, with its unit and its reason. */

export interface UploadLimits {
  /** A picture, bytes. A camera's have 10 to 200 KB. [xiaozhi §6.1] */
  readonly pictureBytesMax: number;
  /** The question about a photo, bytes: what a person says in one go. */
  readonly questionBytesMax: number;
  /** A body that brings nothing for so long has ended without saying so, ms. */
  readonly silenceMaxMs: number;
  /** A whole body, ms: the largest picture at 25 KB a second, the slowest that is any use. */
  readonly bodyMaxMs: number;
  /** Bytes read and thrown away of a body that was refused, because a device that still sends does not hear the answer; and how long, ms. */
  readonly surplusBytesMax: number;
  readonly surplusMaxMs: number;
  /** Bodies at once in this process: each holds a file or a part of one. */
  readonly atOnceMax: number;
  /** Pictures of one device: at once it has one main task, over a minute what no person wants more of. [xiaozhi §4.5] */
  readonly perDeviceMinuteMax: number;
  /** How long a vision model may think, ms: the device waits 30 s for the beginning of the answer, its main task blocked. [xiaozhi §6.1] */
  readonly visionTimeoutMs: number;
  /** Text of an answer, bytes: with its envelope under the 6 KB that devices read in one go. [xiaozhi §6] */
  readonly answerBytesMax: number;
  /** Pictures that wait for their thumbnail; beyond it they have none. */
  readonly thumbnailsWaitingMax: number;
  /** Width times height of what is decoded: a file of few bytes can hold a picture of gigabytes. */
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
