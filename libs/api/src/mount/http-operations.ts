/** GraphQL over HTTP around Mercurius: authentication, the form of requests, and their errors. */
import {
  getOperationAST,
  type DocumentNode,
  type ExecutionResult,
  type FormattedExecutionResult,
  type GraphQLError,
  type GraphQLSchema,
} from 'graphql';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { MercuriusContext } from 'mercurius';
import { ApiContext, traceOf } from '../api-context.js';
import type { ApiDeps, ClientOf } from '../api-deps.js';
import { ApiError } from '../errors/api-error.js';
import { waitHeaders } from '../errors/wait-headers.js';
import type { Admission } from '../limits/admission.js';
import type { ApiLimits } from '../limits/api-limits.js';
import { isCompilable } from '../limits/compilable.js';
import { budgetHeaders, RateLimitedError } from '../limits/cost-budget.js';
import { toPublicErrors } from '../errors/public-errors.js';
import { bodyMessages, operationNameIn, prepareRequest, refuseOtherThanJson } from './graphql-request.js';
import type { Operation } from '../limits/operation-cost.js';
import type { Caller, Callers } from '../sign-in/callers.js';

export type HttpOperations = ReturnType<typeof makeHttpOperations>;

// Mercurius takes the type of its context from here.
declare module 'mercurius' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- an interface is necessary
  interface MercuriusContext extends ApiContext {}
}

/** The caller of a request that was refused before authentication. */
const unknownCaller: Caller = { viewer: { kind: 'KEY', id: '', name: 'unknown', scopes: [] } };

/** A key may be revoked while a body arrives that takes longer than this, ms. */
const SLOW_BODY_MS = 100;

export interface HttpDeps extends ApiDeps {
  readonly callers: Callers;
  readonly clientOf: ClientOf;
  readonly admission: Admission;
}

export function makeHttpOperations(
  { registry, logger, callers, clientOf, admission }: HttpDeps,
  { queryTokensMax, requestBytesMax }: ApiLimits,
) {
  const known = new WeakMap<FastifyRequest, { readonly caller: Caller; readonly at: number }>();
  const messages = bodyMessages(requestBytesMax);
  const callerOf = (request: FastifyRequest): Caller => known.get(request)?.caller ?? unknownCaller;
  // GET changes nothing: Mercurius runs only queries there.
  const callerNow = ({ raw, method }: FastifyRequest) => callers.ofRequest(raw, method !== 'GET' && method !== 'HEAD');
  const authenticate = async (request: FastifyRequest) =>
    void known.set(request, { caller: await callerNow(request), at: performance.now() });
  return {
    routeOptions: {
      bodyLimit: requestBytesMax,
      // Before the body is read, so that a caller without a key causes no work.
      preParsing: async (request: FastifyRequest, reply: FastifyReply) => {
        if (request.headers.accept?.includes(responseType)) void reply.type(`${responseType}; charset=utf-8`);
        await authenticate(request);
        refuseOtherThanJson(request);
      },
      preValidation: async (request: FastifyRequest) => {
        if (performance.now() - (known.get(request)?.at ?? 0) > SLOW_BODY_MS) await authenticate(request);
        prepareRequest(request, (named) => admission.documentOf(named, callerOf(request).viewer), queryTokensMax);
      },
    },
    context: (request: FastifyRequest) =>
      new ApiContext(registry, callerOf(request), {
        remoteAddress: clientOf(request.raw).address,
        trace: traceOf(request.headers),
        callerNow: () => callerNow(request),
      }),
    /** The hook between validation and execution. A returned document is not compiled. */
    beforeExecution: async (
      schema: GraphQLSchema,
      document: DocumentNode,
      context: MercuriusContext,
      variables?: Readonly<Record<string, unknown>>,
    ) => {
      const { reply, viewer } = context;
      const operation = { schema, document, variables, operationName: operationNameIn(reply.request) };
      refuseSubscription(operation);
      context.budget = await admission.admit(operation, viewer);
      void reply.headers(budgetHeaders(context.budget));
      // A compiled operation would also run where the request names another one, and cost nothing.
      const isNamed = Boolean(getOperationAST(document, operation.operationName));
      return isNamed && isCompilable(schema, document) ? undefined : { document };
    },
    /** The hook before the answer is sent. */
    beforeAnswer: (execution: ExecutionResult, { budget }: MercuriusContext) => {
      if (budget) execution.extensions = { ...execution.extensions, budget };
    },
    formatErrors: (
      { data, errors }: ExecutionResult & { readonly errors: readonly GraphQLError[] },
      { reply, budget: spent }: MercuriusContext,
    ): { readonly statusCode: number; readonly response: FormattedExecutionResult } => {
      // Without data nothing was executed.
      const refusal = data === undefined ? errors[0] : undefined;
      void reply.headers(refusalHeaders(refusal));
      const budget = refusal instanceof RateLimitedError ? refusal.state : spent;
      const response = {
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

function refusalHeaders(refusal: unknown): Readonly<Record<string, string>> {
  const isUnauthenticated = refusal instanceof ApiError && refusal.code === 'UNAUTHENTICATED';
  return isUnauthenticated ? { 'www-authenticate': 'Bearer' } : waitHeaders(refusal);
}

/** A request has one answer. */
function refuseSubscription({ document, operationName }: Operation): void {
  if (getOperationAST(document, operationName)?.operation !== 'subscription') return;
  throw new ApiError(
    'BAD_USER_INPUT',
    'Subscriptions need a WebSocket to the same path, with the protocol graphql-transport-ws.',
  );
}

/** The status of a refused request. An error of a resolver is an answer with 200. */
function statusOf([first]: readonly GraphQLError[]): number {
  if (!first || first.path !== undefined) return 200;
  const cause = first.originalError ?? first;
  return 'statusCode' in cause && typeof cause.statusCode === 'number' ? cause.statusCode : 400;
}
