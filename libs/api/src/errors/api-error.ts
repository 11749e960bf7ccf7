/**
 * The errors that callers see as GraphQL errors. Expected refusals are not errors: they are in
 * `userErrors`.
 */
import { GraphQLError } from 'graphql';

/** The contract's codes, in `extensions.code`. */
export type ApiErrorCode =
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'BAD_USER_INPUT'
  | 'NOT_FOUND'
  | 'PERSISTED_QUERY_NOT_FOUND'
  | 'QUERY_NOT_LISTED'
  | 'RATE_LIMITED'
  | 'TOO_SLOW'
  | 'COST_LIMIT'
  | 'CONFLICT'
  | 'UNAVAILABLE'
  | 'INTERNAL';

/**
 * The status of requests that end before execution; an error of a resolver is an answer with 200.
 */
const httpStatus: Readonly<Record<ApiErrorCode, number>> = {
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  BAD_USER_INPUT: 400,
  NOT_FOUND: 404,
  PERSISTED_QUERY_NOT_FOUND: 400,
  QUERY_NOT_LISTED: 403,
  RATE_LIMITED: 429,
  TOO_SLOW: 429,
  COST_LIMIT: 400,
  CONFLICT: 409,
  UNAVAILABLE: 503,
  INTERNAL: 500,
};

/** An error whose message is for the caller. All other errors are masked (public-errors.ts). */
export class ApiError extends GraphQLError {
  readonly code: ApiErrorCode;
  /** As Fastify reads it: what is below 500 is the caller's mistake and no line of the log. */
  readonly statusCode: number;

  constructor(code: ApiErrorCode, message: string, cause?: unknown) {
    super(message, { extensions: { code }, nodes: cause instanceof GraphQLError ? (cause.nodes ?? null) : null });
    this.name = 'ApiError';
    this.code = code;
    this.statusCode = httpStatus[code];
    if (cause !== undefined) this.cause = cause;
  }
}
