/** The one error class of this lib, with a code to decide by. */
import type { GraphQLFormattedError } from 'graphql';
import type { UserError } from './generated/schema-types.js';

/**
 * A failure of the client or the connection. Rejections of the hub have the hub's code:
 * `UNAUTHENTICATED`, `FORBIDDEN`, `BAD_USER_INPUT`, `NOT_FOUND` and others.
 */
export type ClientErrorCode =
  /** No connection, or it broke. Whether the hub saw the request is not known. */
  | 'UNREACHABLE'
  /** No answer in time. Whether the hub did what was asked is not known. */
  | 'TIMEOUT'
  /** The caller's AbortSignal fired. */
  | 'ABORTED'
  /** The answer is not from Flotilla: a proxy or another server. */
  | 'BAD_RESPONSE'
  /** The reader of a subscription is too slow. */
  | 'TOO_SLOW'
  /** The client was closed. */
  | 'CLOSED'
  /** A webhook without a valid signature, or an old one. */
  | 'WEBHOOK_INVALID';

export interface FlotillaErrorDetails {
  readonly cause?: unknown;
  /** HTTP status, where there was one. */
  readonly status?: number;
  /** As the hub sent them. */
  readonly errors?: readonly GraphQLFormattedError[];
  readonly userErrors?: readonly UserError[];
  /** What the operation returned beside its errors. */
  readonly data?: unknown;
  /** The hub wants to be left alone for this long, ms. */
  readonly retryAfterMs?: number;
}

export class FlotillaError extends Error {
  override readonly name = 'FlotillaError';
  readonly code: ClientErrorCode | (string & {});
  readonly status: number | undefined;
  readonly errors: readonly GraphQLFormattedError[];
  readonly userErrors: readonly UserError[];
  readonly data: unknown;
  readonly retryAfterMs: number | undefined;

  constructor(code: FlotillaError['code'], message: string, details: FlotillaErrorDetails = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : {});
    this.code = code;
    this.status = details.status;
    this.errors = details.errors ?? [];
    this.userErrors = details.userErrors ?? [];
    this.data = details.data;
    this.retryAfterMs = details.retryAfterMs;
  }

  /** For the errors of a GraphQL answer: the code of the first, every message. */
  static ofGraphql(
    errors: readonly GraphQLFormattedError[],
    details: Omit<FlotillaErrorDetails, 'errors'> = {},
  ): FlotillaError {
    const code = errors[0]?.extensions?.['code'];
    const message = errors.map((error) => error.message).join('\n');
    return new FlotillaError(typeof code === 'string' ? code : 'BAD_RESPONSE', message, { ...details, errors });
  }
}

/**
 * Returns the payload of an accepted mutation. Throws FlotillaError with the first user error
 * otherwise.
 */
export function expectAccepted<Payload extends { readonly userErrors: readonly UserError[] }>(
  payload: Payload,
): Payload {
  const { userErrors } = payload;
  const [first] = userErrors;
  if (first === undefined) return payload;
  const message = userErrors
    .map(({ path, message: text }) => (path.length === 0 ? text : `${path.join('.')}: ${text}`))
    .join('\n');
  throw new FlotillaError(first.code, message, { userErrors, data: payload });
}
