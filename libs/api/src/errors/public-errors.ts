/** Turns whatever went wrong into the errors that a caller may see: codes of the contract, nothing of our insides. Logs what it hides, once. */
import { GraphQLError, type GraphQLErrorExtensions, type GraphQLFormattedError } from 'graphql';
import type { ApiLogger } from '../api-deps.js';
import { ApiError, type ApiErrorCode } from './api-error.js';
import { waitMsOf } from './wait-headers.js';

const codes: ReadonlySet<unknown> = new Set<ApiErrorCode>([
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'BAD_USER_INPUT',
  'NOT_FOUND',
  'PERSISTED_QUERY_NOT_FOUND',
  'QUERY_NOT_LISTED',
  'RATE_LIMITED',
  'TOO_SLOW',
  'COST_LIMIT',
  'CONFLICT',
  'UNAVAILABLE',
  'INTERNAL',
]);

/** What the codes of the registry, the storage, the bus and the fleet service mean to a caller; those not named are faults of ours. */
const faultCodes: ReadonlyMap<unknown, ApiErrorCode> = new Map([
  ['ARGUMENT_INVALID', 'BAD_USER_INPUT'],
  ['DATABASE_UNAVAILABLE', 'UNAVAILABLE'],
  ['OVERLOADED', 'UNAVAILABLE'],
  ['CLOSED', 'UNAVAILABLE'],
  ['STORAGE_UNAVAILABLE', 'UNAVAILABLE'],
  ['BUS_UNAVAILABLE', 'UNAVAILABLE'],
  ['GATEWAY_UNREACHABLE', 'UNAVAILABLE'],
  ['FORBIDDEN', 'FORBIDDEN'],
]);

/** Said instead of what went wrong inside. */
const maskedMessages: Readonly<Partial<Record<ApiErrorCode, string>>> &
  Readonly<Record<'INTERNAL' | 'UNAVAILABLE', string>> = {
  INTERNAL: 'Internal error; the log of the hub says more.',
  UNAVAILABLE: 'The hub cannot reach its database or its files now; try again later.',
};

/** Where one word says more than that of the code. */
const faultMessages: ReadonlyMap<unknown, string> = new Map([
  ['BUS_UNAVAILABLE', 'Redis, over which the processes of the hub reach each other, does not answer; try again later.'],
  ['GATEWAY_UNREACHABLE', 'Another process of the hub does not answer; try again later.'],
]);

/** `messages`: by the codes of Fastify's errors, what is said instead of its own words. */
export function toPublicErrors(
  errors: readonly Error[],
  logger: ApiLogger,
  messages: ReadonlyMap<unknown, string> = new Map(),
): GraphQLFormattedError[] {
  return errors.flatMap(unfold).map((error) => toPublicError(error, logger, messages));
}

/** Mercurius wraps what is wrong with a request in an error of its own; a plain error among it is a complaint of Mercurius, no fault of ours. */
function unfold(error: Error): readonly Error[] {
  const wrapper = (error instanceof GraphQLError ? error.originalError : undefined) ?? error;
  if (!('errors' in wrapper) || !Array.isArray(wrapper.errors)) return [error];
  const errors = wrapper.errors.filter((item): item is Error => item instanceof Error);
  return errors.map((item) =>
    isRequestFault(wrapper) && !(item instanceof GraphQLError) ? new ApiError('BAD_USER_INPUT', item.message) : item,
  );
}

function toPublicError(error: Error, logger: ApiLogger, messages: ReadonlyMap<unknown, string>): GraphQLFormattedError {
  const cause = rootOf(error);
  const code = codeOf(error, cause);
  const masked = cause instanceof ApiError ? undefined : maskedMessageOf(cause, code);
  if (masked !== undefined) logger.error({ err: cause, path: pathOf(error) }, 'a GraphQL operation failed inside');
  const message = masked ?? ('code' in cause ? messages.get(cause.code) : undefined) ?? error.message;
  return { ...positionOf(error), message, extensions: { code, ...waitOf(cause) } };
}

/** How long to wait, where that is what helps. */
function waitOf(cause: Error): GraphQLErrorExtensions {
  const retryAfterMs = waitMsOf(cause);
  return retryAfterMs === undefined ? {} : { retryAfterMs };
}

/** What a caller outside GraphQL is told of an error that is not written for it. */
export function maskFault(error: unknown): ApiError {
  const isAway = error instanceof Error && isFault(error) && faultCodes.get(error.code) === 'UNAVAILABLE';
  const code = isAway ? 'UNAVAILABLE' : 'INTERNAL';
  return new ApiError(code, maskedMessageOf(error, code) ?? maskedMessages[code], error);
}

function maskedMessageOf(cause: unknown, code: ApiErrorCode): string | undefined {
  const own = cause instanceof Error && isFault(cause) ? faultMessages.get(cause.code) : undefined;
  return own ?? maskedMessages[code];
}

function isFault(error: Error): error is Error & { readonly code: unknown } {
  return ['RegistryError', 'StorageError', 'FleetError', 'BusError'].includes(error.name) && 'code' in error;
}

function rootOf(error: Error): Error {
  return error instanceof GraphQLError && error.originalError ? rootOf(error.originalError) : error;
}

function codeOf(error: Error, cause: Error): ApiErrorCode {
  // The errors of compiled queries (graphql-jit) have no `extensions` unless their cause has.
  const own =
    error instanceof GraphQLError ? (error.extensions as GraphQLErrorExtensions | undefined)?.['code'] : undefined;
  if (isCode(own)) return own;
  if (isFault(cause)) return faultCodes.get(cause.code) ?? 'INTERNAL';
  if (isRequestFault(cause)) return 'BAD_USER_INPUT';
  return isGraphqlsOwn(error, cause) ? 'BAD_USER_INPUT' : 'INTERNAL';
}

/** graphql's own complaints about a document, its variables or its arguments. Those about a value that we returned have a path and no node of their own. */
function isGraphqlsOwn(error: Error, cause: Error): boolean {
  return cause instanceof GraphQLError && (pathOf(error) === undefined || cause.nodes !== undefined);
}

function pathOf(error: Error): string | undefined {
  return error instanceof GraphQLError ? error.path?.join('.') : undefined;
}

function isCode(value: unknown): value is ApiErrorCode {
  return codes.has(value);
}

/** Fastify and Mercurius mark their errors with the status they mean. */
function isRequestFault(error: Error): boolean {
  const status: unknown = 'statusCode' in error ? error.statusCode : undefined;
  return typeof status === 'number' && status >= 400 && status < 500;
}

function positionOf(error: Error): Pick<GraphQLFormattedError, 'locations' | 'path'> {
  if (!(error instanceof GraphQLError)) return {};
  return {
    ...(error.locations ? { locations: error.locations } : {}),
    ...(error.path ? { path: error.path.map(toSegment) } : {}),
  };
}

/** Places in lists are numbers [GraphQL §7.1.2]; compiled queries have them as text. No field is called like one. */
function toSegment(segment: string | number): string | number {
  return typeof segment === 'string' && /^\d+$/.test(segment) ? Number(segment) : segment;
}
