/** Bounds of connected agents, with their units and reasons. */

export interface GrantLimits {
  /** Agents that one person has connected at once; all are listed. */
  readonly grantsMax: number;
  /** A person decides again after this time, ms. */
  readonly grantMs: number;
  /** An access token: a stolen one is of use for so long, ms. */
  readonly accessTokenMs: number;
  /** A refresh token that was not used for so long ends, ms. */
  readonly refreshTokenMs: number;
  /** A person looks at the request for at most so long, ms. */
  readonly requestMs: number;
  /** Registered clients of one hub. */
  readonly clientsMax: number;
  /** A registered client without a grant makes room for others after this time, ms. */
  readonly idleClientMs: number;
  /** Registrations of one network in the time below: more than one person needs. */
  readonly registrationsMax: number;
  readonly registrationWindowMs: number;
  /** Metadata documents that are fetched for one network in the time below. */
  readonly documentsMax: number;
  readonly documentWindowMs: number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

export const defaultGrantLimits: GrantLimits = {
  grantsMax: 50,
  grantMs: 180 * DAY_MS,
  accessTokenMs: 10 * MINUTE_MS,
  refreshTokenMs: 30 * DAY_MS,
  requestMs: 15 * MINUTE_MS,
  clientsMax: 1_000,
  idleClientMs: 60 * MINUTE_MS,
  registrationsMax: 20,
  registrationWindowMs: 60 * MINUTE_MS,
  documentsMax: 30,
  documentWindowMs: MINUTE_MS,
};
