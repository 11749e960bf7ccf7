/**
 * Turns errors into those that a caller may see: with codes of the contract, and without internals.
 * Logs what it hides, once.
 */
import { GraphQLError, type GraphQLErrorExtensions, type GraphQLFormattedError } from 'graphql';
import type { ApiLogger } from '../api-logger.js';
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

/**
 * The codes of the registry, storage, bus and fleet service for callers. Others are internal
 * errors.
 */
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
  UNAVAILABLE: 'The hub cannot do this now; try again later.',
};

/** Where one word says more than that of the code. */
const faultMessages: ReadonlyMap<unknown, string> = new Map([
  ['DATABASE_UNAVAILABLE', 'PostgreSQL does not answer or accepts no writes now; try again later.'],
  ['STORAGE_UNAVAILABLE', 'The storage of files does not answer; try again later.'],
  ['BUS_UNAVAILABLE', 'Redis, over which the processes of the hub reach each other, does not answer; try again later.'],
  ['GATEWAY_UNREACHABLE', 'Another process of the hub does not answer; try again later.'],
]);

/** `messages` replace the messages of Fastify, by code. */
export function toPublicErrors(
  errors: readonly Error[],
  logger: ApiLogger,
  messages: ReadonlyMap<unknown, string> = new Map(),
): GraphQLFormattedError[] {
  return errors.flatMap(unfold).map((error) => toPublicError(error, logger, messages));
}

/** Mercurius wraps request errors; a plain error inside is about the request and not internal. */
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

/**
 * The error for a caller outside GraphQL if it was not written for callers. It has the code of the
 * same error in GraphQL, and its message where that one shows it.
 */
export function maskFault(error: unknown): ApiError {
  const code = error instanceof Error && isFault(error) ? (faultCodes.get(error.code) ?? 'INTERNAL') : 'INTERNAL';
  const message = error instanceof Error ? error.message : String(error);
  return new ApiError(code, maskedMessageOf(error, code) ?? message, error);
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

/**
 * Errors of graphql about the document or its input. Those about our values have a path and no
 * node.
 */
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

/** List indexes are numbers [GraphQL §7.1.2]; compiled queries have them as text. */
function toSegment(segment: string | number): string | number {
  return typeof segment === 'string' && /^\d+$/.test(segment) ? Number(segment) : segment;
}
