/** Why an upload was rejected, and the answer that says so. */
import type { JsonAnswer } from '../send-json.js';

type UploadRefusalCode =
  | 'UNAUTHENTICATED'
  | 'NOT_FOUND'
  | 'BAD_USER_INPUT'
  | 'REQUEST_TOO_LARGE'
  | 'UNSUPPORTED_PICTURE'
  | 'TOO_SLOW'
  | 'RATE_LIMITED'
  | 'UNAVAILABLE';

const statuses: Readonly<Record<UploadRefusalCode, number>> = {
  UNAUTHENTICATED: 401,
  NOT_FOUND: 404,
  BAD_USER_INPUT: 400,
  REQUEST_TOO_LARGE: 413,
  UNSUPPORTED_PICTURE: 415,
  TOO_SLOW: 408,
  RATE_LIMITED: 429,
  UNAVAILABLE: 503,
};

export class UploadRefusal extends Error {
  override readonly name = 'UploadRefusal';
  readonly status: number;

  constructor(
    readonly code: UploadRefusalCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.status = statuses[code];
  }
}

/**
 * `success` and `message` are what firmware expects; `code` is the hub's. It is always sent, within
 * the size that devices read at once, after the body was read. [xiaozhi §6]
 */
export function refusalAnswer({ code, message, status }: UploadRefusal): JsonAnswer {
  return { status, body: { success: false, code, message } };
}
