/** The errors that callers of the API see as GraphQL errors. Expected refusals are no errors: they travel in `userErrors`. */
import { GraphQLError } from 'graphql';

/** The contract's codes, in `extensions.code`. */
export type ApiErrorCode =
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'BAD_USER_INPUT'
  | 'NOT_FOUND'
  | 'RATE_LIMITED'
  | 'COST_LIMIT'
  | 'CONFLICT'
  | 'UNAVAILABLE'
  | 'INTERNAL';

/** An error whose message is written for the caller. Anything else that is thrown is masked (public-errors.ts). */
export class ApiError extends GraphQLError {
  readonly code: ApiErrorCode;

  constructor(code: ApiErrorCode, message: string, cause?: unknown) {
    super(message, { extensions: { code } });
    this.name = 'ApiError';
    this.code = code;
    if (cause !== undefined) this.cause = cause;
  }
}
