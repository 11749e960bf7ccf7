/**
 * When failed attempts make the next one wait. Three runs of failures are told apart: of an e-mail address, of a network address, and of a browser in which
 * the person has been signed in before. A known browser is judged by its own run alone, so that a stranger who keeps an account or a shared address locked
 * does not keep its owner out.
 */
import type { FailureRun } from '@flotilla/registry';
import { networkOf } from './network-of.js';
import type { SignInLimits } from './sign-in-limits.js';

export interface Attempt {
  /** In lower case. */
  readonly email: string;
  readonly remoteAddress: string | undefined;
  /** The former session of this person in the same browser. */
  readonly knownBrowser: string | undefined;
}

/** What the attempt is counted on. A good one ends the first run; a shared address goes on counting the failures of others. */
export function subjectsOf({ email, remoteAddress, knownBrowser }: Attempt): {
  readonly own: string;
  readonly shared: readonly string[];
} {
  if (knownBrowser !== undefined) return { own: `browser:${knownBrowser}`, shared: [] };
  return {
    own: `account:${email}`,
    shared: remoteAddress === undefined ? [] : [`address:${networkOf(remoteAddress)}`],
  };
}

/** Until when an attempt has to wait, ms since the Unix epoch; undefined where it need not. */
export function lockedUntil(
  subject: string,
  { failures, lastAt }: FailureRun,
  limits: SignInLimits,
): number | undefined {
  const allowed = subject.startsWith('address:') ? limits.addressFailuresMax : limits.failuresMax;
  if (failures < allowed) return undefined;
  return lastAt + Math.min(limits.lockMs * 2 ** (failures - allowed), limits.lockMsMax);
}
