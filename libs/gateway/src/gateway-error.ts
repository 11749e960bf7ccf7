/** The errors of this library. Mistakes of devices are not thrown: they are refused or counted. */

type GatewayErrorCode =
  /** The UDP port for audio cannot be bound. */
  | 'UDP_UNAVAILABLE'
  /** `start` was called twice, or something was used before it. */
  | 'GATEWAY_NOT_STARTED';

export class GatewayError extends Error {
  override readonly name = 'GatewayError';

  constructor(
    readonly code: GatewayErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
