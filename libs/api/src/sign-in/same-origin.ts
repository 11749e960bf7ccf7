/**
 * Whether a request with a cookie comes from a page of this hub. Browsers name the page in headers
 * that it cannot forge.
 */
import type { IncomingHttpHeaders } from 'node:http';

type RequestOrigin = 'same' | 'foreign' | 'unknown';

/** `unknown`: the request has neither `Sec-Fetch-Site` nor `Origin`, as from a program. */
export function originOf(headers: IncomingHttpHeaders, publicUrl: string | undefined): RequestOrigin {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' ? 'same' : 'foreign';
  const { origin, host } = headers;
  if (origin === undefined) return 'unknown';
  if (!URL.canParse(origin)) return 'foreign';
  const url = new URL(origin);
  if (publicUrl !== undefined && url.origin === new URL(publicUrl).origin) return 'same';
  return url.host !== '' && url.host === host ? 'same' : 'foreign';
}
