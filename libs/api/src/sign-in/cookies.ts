/**
 * The cookies of signed-in browsers. Scripts cannot read them, and other sites cannot send them,
 * except on the way back from an identity provider.
 */
import type { IncomingHttpHeaders } from 'node:http';

type CookieName = 'flotilla-session' | 'flotilla-browser' | 'flotilla-oidc';

/** Longest value of a cookie. */
const VALUE_CHARACTERS_MAX = 400;

/** `isSecure`: browsers use HTTPS. With `__Host-` no neighbouring host can set the cookie. */
export function cookieName(name: CookieName, isSecure: boolean): string {
  return isSecure ? `__Host-${name}` : name;
}

export function readCookie({ cookie }: IncomingHttpHeaders, name: CookieName, isSecure: boolean): string | undefined {
  const start = `${cookieName(name, isSecure)}=`;
  const value = cookie
    ?.split(';')
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(start))
    ?.slice(start.length);
  return value === undefined || value === '' || value.length > VALUE_CHARACTERS_MAX ? undefined : value;
}

interface CookieRules {
  readonly isSecure: boolean;
  readonly maxAgeSeconds: number;
  /** `Lax` where a page of another site leads here. */
  readonly sameSite?: 'Strict' | 'Lax';
}

/** For `Set-Cookie`. `value` is of base64url, dots and hyphens. */
export function cookieText(
  name: CookieName,
  value: string,
  { isSecure, maxAgeSeconds, sameSite = 'Strict' }: CookieRules,
): string {
  const secure = isSecure ? '; Secure' : '';
  const attributes = `Max-Age=${maxAgeSeconds}; Path=/; HttpOnly; SameSite=${sameSite}${secure}`;
  return `${cookieName(name, isSecure)}=${value}; ${attributes}`;
}

export function expiredCookie(name: CookieName, isSecure: boolean): string {
  return cookieText(name, '', { isSecure, maxAgeSeconds: 0 });
}
