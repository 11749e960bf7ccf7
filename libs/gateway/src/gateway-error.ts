/** What this library throws. What devices do wrong is never thrown: it is refused, cut or counted. */

export type GatewayErrorCode =
  /** The UDP port for audio cannot be bound. */
  | 'UDP_UNAVAILABLE'
  /** `start` was called twice, or something was used before it. */
  | 'GATEWAY_NOT_STARTED'
  /** Something that was waited for did not come in time. */
  | 'TIMEOUT';

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
