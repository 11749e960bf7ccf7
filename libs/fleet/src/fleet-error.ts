/** What this library throws. Refusals and outcomes are values; this is for what no caller can act on. */

export type FleetErrorCode =
  /** A job's row is gone although the job is live. */
  | 'JOB_LOST'
  /** Work was stopped, or its fence lost, before the statement it waited for succeeded. */
  | 'RUN_ENDED'
  /** The actor may not do this, whatever the input: the key is narrowed to other devices, or has no scope for it. */
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
