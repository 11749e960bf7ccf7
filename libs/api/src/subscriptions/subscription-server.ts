/**
 * graphql-transport-ws at /graphql: subscriptions, queries and mutations, with the keys, sessions,
 * scopes and limits of HTTP.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { GraphQLError, type GraphQLSchema, parse, specifiedRules, validate } from 'graphql';
import { CloseCode, handleProtocols, makeServer, type Context, type SubscribePayload } from 'graphql-ws';
import { WebSocketServer, type WebSocket } from 'ws';
import { ApiContext } from '../api-context.js';
import type { ApiDeps, ClientOf } from '../api-deps.js';
import type { ApiLogger } from '../api-logger.js';
import { ApiError } from '../errors/api-error.js';
import { TooManyFailuresError } from '../access/key-failures.js';
import type { ApiLimits } from '../limits/api-limits.js';
import type { Admission } from '../limits/admission.js';
import { maskFault, toPublicErrors } from '../errors/public-errors.js';
import type { Caller, Callers } from '../sign-in/callers.js';
import { aheadBytesMax, bindSocket, type SocketOfConnection } from './sockets/bind-socket.js';
import { SocketPlaces } from './sockets/socket-places.js';
import { SharedResults, type LiveArgs } from './streams/shared-results.js';
import { textFrames } from './sockets/text-frames.js';
import { tryAgainLater, watchKey } from './streams/watch-key.js';
import type { Access } from './streams/watch-key.js';

interface SubscriptionServerDeps extends ApiDeps {
  readonly limits: ApiLimits;
  readonly callers: Callers;
  readonly clientOf: ClientOf;
  readonly admission: Admission;
  readonly schema: GraphQLSchema;
}

interface SubscriptionServer {
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  close(): Promise<void>;
}

/** What a connection said in connection_init. */
type Connection = Context<{ authorization?: unknown }, SocketOfConnection>;

/** One operation on a connection. */
interface Asked {
  readonly connection: Connection;
  readonly id: string;
  readonly payload: SubscribePayload;
}

export function openSubscriptionServer(deps: SubscriptionServerDeps): SubscriptionServer {
  const { callers, clientOf, limits, logger } = deps;
  const places = new SocketPlaces(limits);
  // Missing in the types of ws: Ms until a peer that ignores a close frame is destroyed.
  const closing = { closeTimeout: limits.socketClosingMsMax };
  const sockets = new WebSocketServer({
    ...closing,
    noServer: true,
    maxPayload: limits.requestBytesMax,
    handleProtocols: (offered) => handleProtocols(offered),
  });
  // The key in connection_init takes precedence over the cookie.
  const callerOf = ({ connectionParams, extra: { token } }: Connection, watched?: 'watched'): Promise<Caller> =>
    token === undefined || connectionParams?.authorization !== undefined
      ? callers.ofKey(connectionParams?.authorization)
      : callers.ofToken(token, watched);
  const results = new SharedResults(logger);
  const protocol = makeServer<{ authorization?: unknown }, SocketOfConnection>({
    onConnect: async (connection) => {
      const { socket, place, remoteAddress, token } = connection.extra;
      // Without a key or a cookie nothing is guessed.
      const isGuess = token !== undefined || connection.connectionParams?.authorization !== undefined;
      const caller = isGuess ? callers.counted(remoteAddress, () => callerOf(connection)) : callerOf(connection);
      if (!(await isAdmitted(caller, socket, logger))) return false;
      if (!place.admit()) {
        socket.close(tryAgainLater, 'Too many connections');
        return false;
      }
      // An open page is not activity: its session still expires.
      const rights = rightsOf(await caller);
      watchKey(socket, () => accessOf(callerOf(connection, 'watched'), rights), {
        everyMs: limits.keyCheckMs,
        feed: deps.feed,
        logger,
      });
      return true;
    },
    // `args` are the result of `onSubscribe`.
    subscribe: (args) => results.subscribe(args as LiveArgs),
    onSubscribe: (connection, id, payload) => prepare(deps, { connection, id, payload }, () => callerOf(connection)),
    // Without data if the operation did not run [GraphQL §7.1.1].
    onNext: (_connection, _id, _payload, _args, { data, errors }) =>
      errors && { ...(data !== undefined && { data }), errors: toPublicErrors(errors, logger) },
    onError: (_connection, _id, _payload, errors) => toPublicErrors(errors.map(asError), logger),
  });
  const rules = {
    logger,
    backlogBytesMax: limits.socketBacklogBytesMax,
    unauthenticatedBytesMax: limits.unauthenticatedBytesMax,
  };
  sockets.on('connection', (socket: WebSocket, request: IncomingMessage, stream: Duplex) => {
    const remoteAddress = clientOf(request).address;
    const place = places.enter(socket, remoteAddress);
    bindSocket(socket, protocol, { ...rules, place, stream, remoteAddress, token: callers.tokenOfUpgrade(request) });
  });
  return {
    upgrade: (request, socket, head) => {
      if (places.isFull) refuseUpgrade(socket);
      else
        sockets.handleUpgrade(request, socket, head, (opened) => sockets.emit('connection', opened, request, socket));
    },
    close: () => closeAll(sockets),
  };
}

/**
 * The operation, or the errors that refuse it. The key is checked each time, as it may be revoked.
 */
async function prepare(
  { schema, registry, limits, admission }: SubscriptionServerDeps,
  { connection, id, payload }: Asked,
  authenticated: () => Promise<Caller>,
): Promise<LiveArgs | readonly GraphQLError[]> {
  const { query, extensions, variables, operationName } = payload;
  try {
    if (Object.keys(connection.subscriptions).length > limits.operationsPerSocketMax) {
      throw new ApiError(
        'RATE_LIMITED',
        `At most ${limits.operationsPerSocketMax} operations may be open on one connection.`,
      );
    }
    const caller = await authenticated();
    const document = parse(admission.documentOf({ query, extensions, variables }, caller.viewer) ?? '', {
      maxTokens: limits.queryTokensMax,
    });
    const errors = validate(schema, document, [...specifiedRules, ...admission.validationRules]);
    if (errors.length > 0) return errors;
    await admission.admit({ schema, document, variables, operationName }, caller.viewer);
    const { remoteAddress } = connection.extra;
    const contextValue = new ApiContext(registry, caller, { remoteAddress, callerNow: authenticated });
    const sendPayloads = payloadSender(id, connection.extra.sendFrames);
    return { schema, document, variableValues: variables, operationName, contextValue, sendPayloads };
  } catch (error) {
    return [asGraphQLError(error)];
  }
}

/** Messages as graphql-ws would write them, around payloads that are JSON already. */
function payloadSender(id: string, sendFrames: SocketOfConnection['sendFrames']): LiveArgs['sendPayloads'] {
  const before = Buffer.from(`{"id":${JSON.stringify(id)},"type":"next","payload":`);
  const after = Buffer.from('}');
  return async (payloads) => {
    for (const frames of textFrames(before, payloads, after, aheadBytesMax)) await sendFrames(frames);
  };
}

/** False becomes 4403 Forbidden in graphql-ws, unless the socket was closed with another code. */
async function isAdmitted(caller: Promise<unknown>, socket: WebSocket, logger: ApiLogger): Promise<boolean> {
  try {
    await caller;
    return true;
  } catch (error) {
    if (error instanceof TooManyFailuresError) {
      socket.close(CloseCode.TooManyInitialisationRequests, error.message);
    } else if (!(error instanceof ApiError)) {
      if (maskFault(error).code !== 'UNAVAILABLE') throw error;
      logger.warn({ err: error }, 'the key of a new GraphQL socket could not be looked at');
      // After 4500, for failures inside, clients do not connect again.
      socket.close(tryAgainLater, 'Your key cannot be checked now');
    }
    return false;
  }
}

async function isKnown(caller: Promise<unknown>): Promise<boolean> {
  try {
    await caller;
    return true;
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}

async function accessOf(caller: Promise<Caller>, rights: string): Promise<Access> {
  if (!(await isKnown(caller))) return 'GONE';
  return rightsOf(await caller) === rights ? 'SAME' : 'CHANGED';
}

function rightsOf({ viewer: { devices, scopes } }: Caller): string {
  return JSON.stringify([[...scopes].sort(), devices]);
}

function asGraphQLError(error: unknown): GraphQLError {
  return error instanceof GraphQLError ? error : new GraphQLError('failed', { originalError: asError(error) });
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new ApiError('INTERNAL', String(error));
}

/** Destroys the socket after the answer, because the peer may never end its side. */
function refuseUpgrade(socket: Duplex): void {
  socket.on('error', () => socket.destroy());
  socket.end('HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n', () =>
    socket.destroy(),
  );
}

function closeAll(sockets: WebSocketServer): Promise<void> {
  for (const socket of sockets.clients) socket.close(1001, 'The hub is stopping');
  return new Promise((resolve) => sockets.close(() => resolve()));
}
