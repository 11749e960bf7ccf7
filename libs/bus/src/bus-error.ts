/** The errors of this library. Calls never end in one: their failures are outcomes. */

type BusErrorCode =
  /** PostgreSQL or Redis did not execute a queue or directory operation. */
  | 'BUS_UNAVAILABLE'
  /** A gateway received a request and did not answer in time. */
  | 'GATEWAY_UNREACHABLE'
  /** A message or queue item does not have the format of this version of the hub. */
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
