/** The numbers of docs/desired-states.md. */

/** A device is FAILED after this many tries without success, failed reads included. */
export const triesMax = 5;
/** The first wait after a failure, ms; it doubles with each try. */
export const firstWaitMs = 5_000;
/** The share of a wait that chance adds at most. */
export const jitter = 0.5;
/** Sends within `revertWindowMs` that undo a change of others. */
export const revertsMax = 5;
export const revertWindowMs = 3_600_000;
/** A value that was reported longer ago is read before anything is sent. */
export const freshMs = 300_000;
/** Each device is compared this often even if nothing happens. */
export const sweepMs = 3_600_000;
