/** Bounds of signing in, with their units and reasons. */

export interface SignInLimits {
  /**
   * Wrong passwords in a row for one e-mail address or known browser before the next attempt waits.
   */
  readonly failuresMax: number;
  /** Likewise from one network address, whose people may be many. */
  readonly addressFailuresMax: number;
  /** The first wait, ms; it doubles with each further failure. */
  readonly lockMs: number;
  /** The longest wait, ms. */
  readonly lockMsMax: number;
  /** Ms after the last failure when the failures are forgotten; longer than the longest wait. */
  readonly forgottenMs: number;
  /** A session ends when it was not used for so long, ms. */
  readonly idleMs: number;
  /** A session ends in any case, ms. */
  readonly sessionMs: number;
  /** Browsers that one person is signed in with at once. */
  readonly sessionsMax: number;
  /** A browser is known for so long after its session ended, ms. */
  readonly browserKnownMs: number;
  /** Accounts of people. All are listed at once. */
  readonly usersMax: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export const defaultSignInLimits: SignInLimits = {
  failuresMax: 5,
  addressFailuresMax: 20,
  lockMs: 30_000,
  lockMsMax: 900_000,
  forgottenMs: 24 * HOUR_MS,
  idleMs: 12 * HOUR_MS,
  sessionMs: 7 * DAY_MS,
  sessionsMax: 20,
  browserKnownMs: 90 * DAY_MS,
  usersMax: 1_000,
};
