/**
 * The error class of this library. Refusals and outcomes are values; these errors leave a caller
 * nothing to do.
 */

export type FleetErrorCode =
  /** A job's row is gone although the job is live. */
  | 'JOB_LOST'
  /** Work was stopped, or its fence lost, before the statement it waited for succeeded. */
  | 'RUN_ENDED'
  /**
   * The actor may not do this with any input: the access scope or a scope of the key is missing.
   */
  | 'FORBIDDEN';

export class FleetError extends Error {
  override readonly name = 'FleetError';

  constructor(
    readonly code: FleetErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
