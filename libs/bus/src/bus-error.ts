/** What this library throws. Calls never end in it: their failures are outcomes. */

export type BusErrorCode =
  /** PostgreSQL or Redis did not take a queue or directory operation. */
  | 'BUS_UNAVAILABLE'
  /** A gateway was asked for something and did not answer in time. */
  | 'GATEWAY_UNREACHABLE'
  /** A message or queue item is not what this version of the hub writes. */
  | 'MESSAGE_INVALID'
  /** A gateway id is served twice in one process. */
  | 'GATEWAY_ALREADY_SERVED';

export class BusError extends Error {
  override readonly name = 'BusError';

  constructor(
    readonly code: BusErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
