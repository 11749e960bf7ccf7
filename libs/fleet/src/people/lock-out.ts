/**
 * When failed sign-ins make the next attempt wait. Failures are counted by e-mail address, by
 * network, and by known browser, in which the person has signed in before. Only its own failures
 * lock a known browser. An attacker who locks an account or a shared network cannot lock out its
 * owner.
 */
import type { FailureRun } from '@flotilla/registry';
import { networkOf } from './network-of.js';
import type { SignInLimits } from './sign-in-limits.js';

interface Attempt {
  /** In lower case. */
  readonly email: string;
  readonly remoteAddress: string | undefined;
  /** The former session of this person in the same browser. */
  readonly knownBrowser: string | undefined;
}

/**
 * The counters of an attempt. Success resets the first; a shared network keeps the failures of
 * others.
 */
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
