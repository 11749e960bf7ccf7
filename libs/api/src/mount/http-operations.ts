/** GraphQL over HTTP around Mercurius: authentication, the form of requests, and their errors. */
import type { IncomingMessage } from 'node:http';
import type { GraphQLError } from 'graphql';
import {
  getOperationAST,
  type DocumentNode,
  type ExecutionResult,
  type FormattedExecutionResult,
  type GraphQLSchema,
} from 'graphql';
import { isJsonObject } from '@flotilla/mcp';
import { errorCodes, type FastifyReply, type FastifyRequest, type RouteOptions } from 'fastify';
import { ApiContext } from '../api-context.js';
import type { ApiDeps, ClientOf } from '../api-deps.js';
import { ApiError } from '../errors/api-error.js';
import { waitHeaders } from '../errors/wait-headers.js';
import type { Admission, RawOperation } from '../limits/admission.js';
import type { ApiLimits } from '../limits/api-limits.js';
import { isCompilable } from '../limits/compilable.js';
import { budgetHeaders, RateLimitedError, type BudgetState } from '../limits/cost-budget.js';
import { toPublicErrors } from '../errors/public-errors.js';
import type { Caller, Callers } from '../sign-in/callers.js';

export interface HttpOperations {
  /** Options of Mercurius's two routes. */
  readonly routeOptions: Pick<RouteOptions, 'bodyLimit' | 'preParsing' | 'preValidation'>;
  readonly context: (request: FastifyRequest) => ApiContext;
  /** The hook between validation and execution. A returned document is not compiled. */
  readonly beforeExecution: (
    schema: GraphQLSchema,
    document: DocumentNode,
    context: object,
    variables?: Readonly<Record<string, unknown>>,
  ) => Promise<{ readonly document: DocumentNode } | undefined>;
  /** Mercurius's hook before the answer leaves. */
  readonly beforeAnswer: (execution: ExecutionResult, context: object) => void;
  readonly formatErrors: (
    execution: ExecutionResult & { readonly errors: readonly GraphQLError[] },
    context: object,
  ) => {
    readonly statusCode: number;
    readonly response: FormattedExecutionResult;
  };
}

/** Our context, as Mercurius completes it. */
type MercuriusContext = ApiContext & { readonly reply: FastifyReply };

/** The caller of a request that was refused before authentication. */
const unknownCaller: Caller = { viewer: { kind: 'KEY', id: '', name: 'unknown', scopes: [] } };

export interface HttpDeps extends ApiDeps {
  readonly callers: Callers;
  readonly clientOf: ClientOf;
  readonly admission: Admission;
}

export function makeHttpOperations(
  { registry, logger, callers, clientOf, admission }: HttpDeps,
  limits: ApiLimits,
): HttpOperations {
  const known = new WeakMap<IncomingMessage, Caller>();
  const budgets = new WeakMap<object, BudgetState>();
  const messages = bodyMessages(limits);
  const callerOf = ({ raw }: FastifyRequest): Caller => known.get(raw) ?? unknownCaller;
  return {
    routeOptions: {
      bodyLimit: limits.requestBytesMax,
      // Before the body is read, so that a caller without a key causes no work.
      preParsing: async (request: FastifyRequest, reply: FastifyReply) => {
        if (request.headers.accept?.includes(responseType)) void reply.type(`${responseType}; charset=utf-8`);
        known.set(request.raw, await authenticateRequest(callers, request, reply));
        refuseOtherThanJson(request);
      },
      preValidation: async (request: FastifyRequest) => {
        mendBody(request.body);
        refuseInvalidParameters(request.body);
        nameDocument(request.method === 'GET' ? request.query : request.body, (named) =>
          admission.documentOf(named, callerOf(request).viewer),
        );
        refuseNothing(request.method === 'GET' ? request.query : request.body);
        // After the look-up by hash, because another caller may have registered the document.
        refuseJsonQuery(request.body);
        refuseJsonQuery(request.query);
      },
    },
    context: (request) => new ApiContext(registry, callerOf(request), clientOf(request.raw).address),
    beforeExecution: async (schema, document, context, variables) => {
      const { reply, viewer } = context as MercuriusContext;
      const operation = { schema, document, variables, operationName: operationNameIn(reply.request) };
      refuseSubscription(operation);
      const budget = await admission.admit(operation, viewer).catch((error: unknown) => {
        if (error instanceof RateLimitedError) {
          budgets.set(context, error.state);
          void reply.headers(budgetHeaders(error.state, true));
        }
        throw error;
      });
      budgets.set(context, budget);
      void reply.headers(budgetHeaders(budget));
      return isCompilable(schema, document) ? undefined : { document };
    },
    beforeAnswer: (execution, context) => {
      const budget = budgets.get(context);
      if (budget) execution.extensions = { ...execution.extensions, budget };
    },
    formatErrors: ({ data, errors }, context) => {
      const budget = budgets.get(context);
      const response = {
        // Absent where nothing was executed.
        ...(data !== undefined && { data }),
        errors: toPublicErrors(errors, logger, messages),
        ...(budget && { extensions: { budget } }),
      };
      return { statusCode: data ? 200 : statusOf(errors), response };
    },
  };
}

/** What a client that knows GraphQL over HTTP accepts. */
const responseType = 'application/graphql-response+json';

/** What Fastify says of a body leaves out what to do. */
function bodyMessages({ requestBytesMax }: ApiLimits): ReadonlyMap<unknown, string> {
  return new Map([
    [
      'FST_ERR_CTP_INVALID_JSON_BODY',
      'The body is not valid JSON, or has a member "__proto__" or "constructor.prototype", which is not taken.',
    ],
    ['FST_ERR_CTP_EMPTY_JSON_BODY', 'The body is empty: send JSON with "query".'],
    ['FST_ERR_CTP_INVALID_MEDIA_TYPE', 'A request is JSON: send it with "Content-Type: application/json".'],
    ['FST_ERR_CTP_BODY_TOO_LARGE', `The body is too large: at most ${requestBytesMax} bytes.`],
  ]);
}

/** GET never changes anything: Mercurius takes queries alone there. */
async function authenticateRequest(
  callers: Callers,
  { raw, method }: FastifyRequest,
  reply: FastifyReply,
): Promise<Caller> {
  try {
    return await callers.ofRequest(raw, method !== 'GET' && method !== 'HEAD');
  } catch (error) {
    if (error instanceof ApiError && error.code === 'UNAUTHENTICATED') void reply.header('www-authenticate', 'Bearer');
    void reply.headers(waitHeaders(error));
    throw error;
  }
}

/**
 * Mercurius accepts other types too, and pages of other sites can send some without a preflight.
 */
function refuseOtherThanJson({ headers, method }: FastifyRequest): void {
  const type = headers['content-type'];
  if (method === 'POST' && type !== undefined && !/^application\/json\s*(;|$)/i.test(type))
    throw new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE(type);
}

/** GraphQL over HTTP allows `extensions: null`, Mercurius does not. */
function mendBody(body: unknown): void {
  if (isJsonObject(body) && body['extensions'] === null) Reflect.deleteProperty(body, 'extensions');
}

/** Fastify would make text and objects of other values. */
function refuseInvalidParameters(body: unknown): void {
  if (!isJsonObject(body)) return;
  const { operationName = null, variables = null } = body as { operationName?: unknown; variables?: unknown };
  if (operationName !== null && typeof operationName !== 'string')
    throw new ApiError('BAD_USER_INPUT', '"operationName" must be text.');
  if (variables !== null && !isJsonObject(variables))
    throw new ApiError('BAD_USER_INPUT', '"variables" must be a JSON object.');
}

/** Mercurius would say "Unknown query", or "body must be object". */
function refuseNothing(source: unknown): void {
  if (!isJsonObject(source))
    throw new ApiError(
      'BAD_USER_INPUT',
      'The body is one JSON object with "query" and "variables"; batches are not taken.',
    );
  if (source['query'] === undefined || source['query'] === null || source['query'] === '')
    throw new ApiError(
      'BAD_USER_INPUT',
      'There is no "query": send the text of a GraphQL document, with its "variables".',
    );
}

/**
 * Mercurius accepts a JSON syntax tree as a query, past the limits of the parser; the hub does not.
 */
function refuseJsonQuery(source: unknown): void {
  if (!isJsonObject(source) || source['query'] === undefined || source['query'] === null) return;
  if (typeof source['query'] === 'string' && !jsonStart.test(source['query'])) return;
  throw new ApiError('BAD_USER_INPUT', 'Syntax Error: "query" must be the text of a GraphQL document.');
}

/** How JSON begins and a GraphQL operation cannot. */
const jsonStart = /^\s*(?:\{\s*["}]|[["\-\d]|(?:true|false|null)\s*$)/;

/** A request has one answer. */
function refuseSubscription({
  document,
  operationName,
}: {
  readonly document: DocumentNode;
  readonly operationName: string | undefined;
}): void {
  if (getOperationAST(document, operationName)?.operation !== 'subscription') return;
  throw new ApiError(
    'BAD_USER_INPUT',
    'Subscriptions go over a WebSocket to the same path, with the protocol graphql-transport-ws.',
  );
}

/**
 * Puts the document where Mercurius reads it. In GET requests extensions and variables are JSON
 * texts.
 */
function nameDocument(source: unknown, documentOf: (named: RawOperation) => string | undefined): void {
  if (!isJsonObject(source)) return;
  const { query, extensions, variables }: RawOperation = source;
  const document = documentOf({
    query,
    extensions: parsed('extensions', extensions),
    variables: parsed('variables', variables),
  });
  if (document !== undefined) Object.assign(source, { query: document });
}

function parsed(name: string, value: unknown): unknown {
  if (typeof value !== 'string' || value === '') return value;
  try {
    return JSON.parse(value);
  } catch (error) {
    throw new ApiError('BAD_USER_INPUT', `"${name}" must be JSON.`, error);
  }
}

/** Mercurius does not pass the name of the selected operation to its hook. */
function operationNameIn(request: FastifyRequest): string | undefined {
  for (const part of ['body', 'query'] as const) {
    const source: unknown = Reflect.get(request, part);
    const name: unknown = isJsonObject(source) ? source['operationName'] : undefined;
    if (typeof name === 'string') return name;
  }
  return undefined;
}

/** The status of a refused request. An error of a resolver is an answer with 200. */
function statusOf([first]: readonly GraphQLError[]): number {
  if (!first || first.path !== undefined) return 200;
  const cause = first.originalError ?? first;
  return 'statusCode' in cause && typeof cause.statusCode === 'number' ? cause.statusCode : 400;
}
