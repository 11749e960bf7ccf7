/**
 * The client of the hub's GraphQL API: queries and mutations over HTTP, subscriptions over one
 * WebSocket that reconnects.
 */
import { watchPongs } from '@flotilla/client/watch-pongs';
import { createClient as createSocket } from 'graphql-ws/client';
import { cacheExchange, Client, fetchExchange, mapExchange, type OperationContext, subscriptionExchange } from 'urql';
import type { Connection } from './connection/connection';
import { LastingSubscriptions } from './connection/lasting-subscriptions';
import { returningSocket } from './connection/returning-socket';
import { authorization } from './session';

/** Ms between two pings of the socket; a dead connection is noticed within two of them. */
const keepAliveMs = 10_000;
/** Ms between two attempts to connect, at most. */
const retryMsMax = 5_000;
/** The socket's close code for a viewer whom the hub does not know. */
const forbidden = 4403;

export interface HubClient {
  readonly client: Client;
  close(): void;
}

interface HubClientOptions {
  readonly connection: Connection;
  readonly onUnauthenticated: () => void;
  /** Called when a lost connection is back. */
  readonly onReturned: () => void;
}

export function openHubClient({ connection, onUnauthenticated, onReturned }: HubClientOptions): HubClient {
  /** After the end, events of the socket and late answers are about a former session. */
  let isOpen = true;
  const pongs = watchPongs(keepAliveMs, () => socket.terminate());
  const socket = createSocket({
    url: `${location.origin.replace(/^http/, 'ws')}/graphql`,
    webSocketImpl: returningSocket(WebSocket),
    connectionParams: authorization,
    lazy: false,
    keepAlive: keepAliveMs,
    retryAttempts: Number.POSITIVE_INFINITY,
    retryWait: (attempt) =>
      new Promise((resolve) => setTimeout(resolve, Math.min(retryMsMax, 250 * 2 ** Math.min(attempt, 10)))),
    shouldRetry: (event) => !(isClose(event) && event.code === forbidden),
    onNonLazyError: () => undefined,
    on: {
      ping: pongs.ping,
      pong: pongs.pong,
      message: pongs.message,
      connected: () => {
        if (!isOpen) return;
        if (!connection.state().isUp) onReturned();
        connection.stands();
      },
      closed: (event) => {
        pongs.closed();
        if (!isOpen) return;
        if (isClose(event) && event.code === forbidden) onUnauthenticated();
        else connection.lost();
      },
    },
  });
  const lasting = new LastingSubscriptions(socket, connection.missed);
  const client = new Client({
    url: '/graphql',
    preferGetMethod: false,
    requestPolicy: 'cache-and-network',
    fetchOptions: () => ({ headers: authorization() }),
    fetch: (...request) => (isOpen ? fetch(...request) : Promise.reject(new Error('The session has ended.'))),
    exchanges: [
      mapExchange({
        onError: ({ graphQLErrors }) => {
          const isUnknown = graphQLErrors.some(({ extensions }) => extensions['code'] === 'UNAUTHENTICATED');
          if (isOpen && isUnknown) onUnauthenticated();
        },
      }),
      cacheExchange,
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: ({ query, variables }, { context }) => ({
          subscribe: (sink) => ({
            unsubscribe: (isOnce(context) ? socket : lasting).subscribe({ query: query ?? '', variables }, sink),
          }),
        }),
      }),
    ],
  });
  const close = () => {
    isOpen = false;
    lasting.close();
    void socket.dispose();
  };
  return { client, close };
}

/** For the `context` of a subscription whose reader begins it again, and sees why it ended. */
export const once = { isOnce: true };

function isOnce(context: OperationContext): boolean {
  return context['isOnce'] === true;
}

function isClose(event: unknown): event is CloseEvent {
  return event instanceof CloseEvent;
}
