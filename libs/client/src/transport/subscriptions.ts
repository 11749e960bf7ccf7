/**
 * Subscriptions over one graphql-transport-ws connection, opened with the first and closed with the
 * last. It reconnects and subscribes again, also where the hub could not go on with a subscription;
 * `onReconnect` reports that values may be missing.
 */
import { print, type DocumentNode, type GraphQLFormattedError } from 'graphql';
import { createClient, type Client, type SubscribePayload } from 'graphql-ws/client';
import type { ClientLimits } from '../client-options.js';
import { FlotillaError } from '../flotilla-error.js';
import { aborted, backOffOf, pause } from './back-off.js';
import { BoundedQueue } from './bounded-queue.js';
import { operationOf } from './is-repeatable.js';
import { watchPongs } from './watch-pongs.js';

export interface SubscriptionOptions {
  readonly signal?: AbortSignal;
  /**
   * The connection or the subscription was lost and begins again. Read missed values again, events
   * by cursor.
   */
  readonly onReconnect?: () => void;
  /** Each time that the hub has taken the connection, the first one too. */
  readonly onConnected?: () => void;
}

interface WebSocketPeer {
  /** ws: or wss:, with the path. */
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly webSocket: unknown;
  readonly limits: ClientLimits;
}

export class Subscriptions {
  readonly #open = new Set<BoundedQueue<unknown>>();
  readonly #ending = new AbortController();
  #connection: Connection | undefined;

  constructor(private readonly peer: WebSocketPeer) {}

  async *iterate(
    document: DocumentNode,
    variables: Readonly<Record<string, unknown>>,
    { signal, onReconnect, onConnected }: SubscriptionOptions = {},
  ): AsyncGenerator<unknown, void, void> {
    if (signal?.aborted) throw aborted(signal);
    if (this.#ending.signal.aborted) throw closed();
    this.#connection ??= connect(this.peer, this.#ending.signal);
    const { queueMax } = this.peer.limits;
    const results = new BoundedQueue<unknown>(queueMax, () => tooSlow(queueMax));
    this.#open.add(results);
    const abort = (): void => results.fail(aborted(signal));
    signal?.addEventListener('abort', abort, { once: true });
    const unsubscribe = keepSubscribed(payloadOf(document, variables), {
      connection: this.#connection,
      results,
      peer: this.peer,
      onConnected: () => onConnected?.(),
      onAgain: () => onReconnect?.(),
    });
    try {
      for (let data = await results.take(); data !== undefined; data = await results.take()) yield data;
    } finally {
      this.#open.delete(results);
      signal?.removeEventListener('abort', abort);
      unsubscribe();
    }
  }

  close(): void {
    this.#ending.abort();
    for (const results of this.#open) results.fail(closed());
    // A connection that fails to open fails for its subscribers, who are notified already.
    Promise.resolve(this.#connection?.client.dispose()).catch(() => undefined);
  }
}

interface Connection {
  readonly client: Client;
  /** Whether a subscription begins on the socket that is there. */
  readonly isOpen: () => boolean;
}

function connect({ url, apiKey, webSocket, limits }: WebSocketPeer, ending: AbortSignal): Connection {
  let failures = 0;
  let socket: { readonly readyState: number } | undefined;
  const pongs = watchPongs(limits.keepAliveMs, () => client.terminate());
  const client = createClient({
    url,
    ...(webSocket === undefined ? {} : { webSocketImpl: webSocket }),
    ...(apiKey === undefined ? {} : { connectionParams: { authorization: `Bearer ${apiKey}` } }),
    lazy: true,
    keepAlive: limits.keepAliveMs,
    connectionAckWaitTimeout: limits.requestMs,
    retryAttempts: limits.reconnectsMax,
    // graphql-ws notices that the subscription has ended, and ignores rejections here.
    retryWait: () => pause(backOffOf(++failures, limits), ending).catch(() => undefined),
    shouldRetry: (error) => closeCodeOf(error) !== FORBIDDEN,
    on: {
      ping: pongs.ping,
      pong: pongs.pong,
      message: pongs.message,
      closed: pongs.closed,
      connected: (opened) => {
        failures = 0;
        socket = opened as { readonly readyState: number };
      },
    },
  });
  return { client, isOpen: () => socket?.readyState === OPEN };
}

/** The `readyState` of a WebSocket that is open. */
const OPEN = 1;

interface Subscribed {
  readonly connection: Connection;
  readonly results: BoundedQueue<unknown>;
  readonly peer: WebSocketPeer;
  readonly onConnected: () => void;
  readonly onAgain: () => void;
}

/** Codes that pass with time. Not COST_LIMIT: it is about the query. */
const passing: ReadonlySet<string> = new Set(['UNAVAILABLE', 'TOO_SLOW', 'RATE_LIMITED']);

/**
 * Begins again where the hub cannot go on now, such as without its database. It ends where the hub
 * refuses it at first. Returns the function that ends it.
 */
function keepSubscribed(payload: SubscribePayload, subscribed: Subscribed): () => void {
  const { results, onConnected, onAgain } = subscribed;
  const { client, isOpen } = subscribed.connection;
  const { limits, url } = subscribed.peer;
  const leaving = new AbortController();
  let [hasBegun, failures, isWaiting] = [false, 0, false];
  let end = (): void => undefined;
  const begin = (): void => {
    let isOver = false;
    const fail = (error: FlotillaError, mayPass = hasBegun): void => {
      if (!mayPass || !passing.has(error.code) || failures >= limits.reconnectsMax) return results.fail(error);
      isOver = true;
      end();
      const beginAgain = (): void => {
        // A new socket is no reconnect to graphql-ws if this was the only subscription.
        isWaiting = !isOpen();
        begin();
        if (!isWaiting) onAgain();
      };
      pause(backOffOf(++failures, limits), leaving.signal).then(beginAgain, () => undefined);
    };
    end = client.subscribe<unknown>(payload, {
      next: ({ data, errors }) => {
        // Without data the operation did not run: the hub refuses it.
        hasBegun ||= data !== undefined;
        if (errors) return fail(FlotillaError.ofGraphql(errors, { data }));
        failures = 0;
        results.push(data);
      },
      // graphql-ws connects again after other closes, but takes this one for final.
      error: (error) => fail(asFlotillaError(error, url), hasBegun || closeCodeOf(error) === TOO_MANY_FAILURES),
      complete: () => {
        if (!isOver) results.close();
      },
    });
  };
  const stopListening = client.on('connected', (_socket, _payload, isReconnect) => {
    hasBegun ||= isReconnect;
    onConnected();
    if (isReconnect || isWaiting) onAgain();
    isWaiting = false;
  });
  begin();
  return () => {
    leaving.abort();
    stopListening();
    end();
  };
}

function payloadOf(document: DocumentNode, variables: Readonly<Record<string, unknown>>) {
  const operationName = operationOf(document)?.name?.value;
  return {
    query: print(document),
    variables: { ...variables },
    ...(operationName === undefined ? {} : { operationName }),
  };
}

/** graphql-transport-ws: the hub does not know the key. */
const FORBIDDEN = 4403;
/** Too many invalid keys from this address: the hub refuses more for a minute. */
const TOO_MANY_FAILURES = 4429;

function closeCodeOf(error: unknown): number | undefined {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'number'
    ? error.code
    : undefined;
}

/** A protocol error message, a close event, or the error of the WebSocket. */
function asFlotillaError(error: unknown, url: string): FlotillaError {
  if (Array.isArray(error)) return FlotillaError.ofGraphql(error as readonly GraphQLFormattedError[]);
  const code = closeCodeOf(error);
  if (code === FORBIDDEN)
    return new FlotillaError('UNAUTHENTICATED', 'The hub does not accept this key, or no longer.', { cause: error });
  if (code === TOO_MANY_FAILURES)
    return new FlotillaError('RATE_LIMITED', 'Too many connections with invalid keys from this address.', {
      cause: error,
    });
  const reason = code === undefined ? (error instanceof Error ? error.message : 'it broke') : `closed with ${code}`;
  return new FlotillaError('UNREACHABLE', `The WebSocket to ${new URL(url).origin} cannot be kept: ${reason}.`, {
    cause: error,
  });
}

function tooSlow(queueMax: number): FlotillaError {
  return new FlotillaError('TOO_SLOW', `More than ${queueMax} values of a subscription waited for their reader.`);
}

function closed(): FlotillaError {
  return new FlotillaError('CLOSED', 'This client was closed.');
}
