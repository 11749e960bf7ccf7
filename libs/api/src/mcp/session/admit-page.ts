/**
 * CORS headers of `/mcp` for the pages that foreign-origin.ts admits, such as MCP Inspector on the
 * local machine. They send a key or token, never a cookie, so credentials stay off.
 * [MCP 2025-11-25, Streamable HTTP]
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError } from '../../errors/api-error.js';
import { isForeignOrigin } from './foreign-origin.js';

/** How long a browser keeps the answer to a preflight, s. */
const PREFLIGHT_SECONDS = 600;

/** What the page may read besides the body. */
const exposed = [
  'Mcp-Session-Id',
  'MCP-Protocol-Version',
  'WWW-Authenticate',
  'Retry-After',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
];

/** Throws FORBIDDEN for a page of another origin. Programs send no origin. */
export function admitPage(
  { headers: { origin } }: IncomingMessage,
  response: ServerResponse,
  publicUrl: string | undefined,
): void {
  if (isForeignOrigin(origin, publicUrl))
    throw new ApiError('FORBIDDEN', 'Pages of other origins may not use this hub.');
  response.setHeader('vary', 'origin');
  if (origin === undefined) return;
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-expose-headers', exposed.join(', '));
}

/** Allows all headers that the page asks for: revisions of MCP add headers, some per argument. */
export function answerPreflight(
  request: IncomingMessage,
  response: ServerResponse,
  publicUrl: string | undefined,
): void {
  admitPage(request, response, publicUrl);
  const asked = request.headers['access-control-request-headers'];
  response.setHeader('access-control-allow-methods', 'GET, POST, DELETE');
  if (asked !== undefined) response.setHeader('access-control-allow-headers', asked);
  response.setHeader('access-control-max-age', PREFLIGHT_SECONDS);
}
