/**
 * Reads which sign-in methods the hub offers besides API keys, and remembers the page across a
 * redirect.
 */
import type { SignInFailure } from './session';

export interface SignInMethods {
  readonly password: boolean;
  readonly oidc: { readonly label: string; readonly url: string } | null;
  /** Whether the hub did not say it yet: then only keys are offered. */
  readonly isUnread?: true;
  /** How an attempt at the identity provider ended that has just come back. */
  readonly failure?: SignInFailure | undefined;
}

/** A hub that does not answer for so long counts as unreachable, ms. */
export const answerMs = 15_000;

/** Where one was when one left for the identity provider: it leads back to `/`. */
const storageKey = 'flotilla.page';

export async function signInMethods(): Promise<SignInMethods> {
  const failure = providerFailure();
  try {
    const answer = await fetch('/api/sign-in', { signal: AbortSignal.timeout(answerMs) });
    if (answer.ok) return { ...((await answer.json()) as Omit<SignInMethods, 'failure'>), failure };
  } catch {
    // Signing in with a key also shows whether the hub answers again.
  }
  return { password: false, oidc: null, isUnread: true, failure };
}

export function rememberPage(): void {
  sessionStorage.setItem(storageKey, location.pathname + location.search);
}

/** Returns the page once after a redirect, otherwise undefined. */
export function rememberedPage(): string | undefined {
  const page = sessionStorage.getItem(storageKey) ?? undefined;
  sessionStorage.removeItem(storageKey);
  return page !== undefined && /^\/(?!\/)/.test(page) && location.pathname === '/' ? page : undefined;
}

/** Once: it leaves the address, which stays open and is remembered for the next attempt. */
function providerFailure(): SignInFailure | undefined {
  const { pathname, search, hash } = location;
  const given = new URLSearchParams(search);
  const said = given.get('sign-in');
  if (said === null) return undefined;
  given.delete('sign-in');
  history.replaceState(history.state, '', pathname + (given.size > 0 ? `?${given}` : '') + hash);
  if (said === 'refused') return { is: 'provider-refused' };
  return said === 'failed' ? { is: 'unreachable' } : undefined;
}
