/**
 * Queries and mutations over HTTP: retries what may be repeated, and turns every failure into one
 * error.
 */
import { print, type DocumentNode, type GraphQLFormattedError } from 'graphql';
import type { ClientLimits, RequestOptions } from '../client-options.js';
import { FlotillaError } from '../flotilla-error.js';
import { backOffOf, pause } from './back-off.js';
import { exchange, type Answer } from './exchange.js';
import { isRepeatable, operationOf } from './is-repeatable.js';

export interface HttpPeer {
  /** With the path. */
  readonly graphqlUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof globalThis.fetch;
  readonly limits: ClientLimits;
}

/** After these nothing was done, or what was done counts once: worth another attempt. */
export const passing: ReadonlySet<string> = new Set(['UNREACHABLE', 'TIMEOUT', 'UNAVAILABLE', 'RATE_LIMITED']);

export async function sendOperation(
  peer: HttpPeer,
  document: DocumentNode,
  variables: Readonly<Record<string, unknown>>,
  { signal, timeoutMs = peer.limits.requestMs }: RequestOptions,
): Promise<unknown> {
  const operationName = operationOf(document)?.name?.value;
  const init: RequestInit = {
    method: 'POST',
    credentials: 'same-origin',
    headers: { ...peer.headers, 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ query: print(document), variables, operationName }),
  };
  const attemptsMax = isRepeatable(document, variables) ? peer.limits.attemptsMax : 1;
  for (let attempt = 1; ; attempt++) {
    try {
      return dataOf(await exchange(peer.graphqlUrl, init, { fetch: peer.fetch, timeoutMs, signal }), peer.limits);
    } catch (error) {
      if (!(error instanceof FlotillaError) || attempt >= attemptsMax || !passing.has(error.code)) throw error;
      const askedFor = Math.min(error.retryAfterMs ?? 0, peer.limits.backOffMsMax);
      await pause(Math.max(askedFor, backOffOf(attempt, peer.limits)), signal);
    }
  }
}

function dataOf(answer: Answer, limits: ClientLimits): unknown {
  const result = resultIn(answer.text);
  const details = { status: answer.status, ...retryAfter(answer.headers) };
  if (result === undefined) throw strange(answer, limits, details);
  const { data, errors } = result;
  if (errors !== undefined && errors.length > 0) throw FlotillaError.ofGraphql(errors, { ...details, data });
  return data;
}

interface Result {
  readonly data?: unknown;
  readonly errors?: readonly GraphQLFormattedError[];
}

function resultIn(text: string): Result | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isResult(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isResult(value: unknown): value is Result {
  if (typeof value !== 'object' || value === null) return false;
  return 'errors' in value ? Array.isArray(value.errors) : 'data' in value;
}

/** What a proxy says for a hub that is away, or what another server answers. */
function strange(
  { status, text }: Answer,
  { excerptLengthMax }: ClientLimits,
  details: { readonly status: number; readonly retryAfterMs?: number },
): FlotillaError {
  const excerpt = text.slice(0, excerptLengthMax).trim();
  if (status === 429) return new FlotillaError('RATE_LIMITED', `Too many requests: ${excerpt}`, details);
  if (status === 502 || status === 503 || status === 504)
    return new FlotillaError('UNAVAILABLE', `The hub is away (${status}): ${excerpt}`, details);
  return new FlotillaError('BAD_RESPONSE', `The answer is not GraphQL's (${status}): ${excerpt}`, details);
}

function retryAfter(headers: Headers): { readonly retryAfterMs?: number } {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? { retryAfterMs: seconds * 1_000 } : {};
}
