/**
 * Ends a socket whose key or session stops being valid, or gets other rights, while subscriptions
 * run on it.
 */
import type { EventFeed } from '@flotilla/bus';
import { CloseCode } from 'graphql-ws';
import type { WebSocket } from 'ws';
import type { ApiLogger } from '../../api-logger.js';

/** What happened to the access since the socket was opened. */
export type Access = 'SAME' | 'CHANGED' | 'GONE';

/** Of the WebSocket protocol. Clients connect again. */
export const tryAgainLater = 1013;

/**
 * Checks the access of an open socket on notifications and from time to time, as those may be lost.
 * A failed check keeps it open.
 */
export function watchKey(
  socket: WebSocket,
  accessNow: () => Promise<Access>,
  {
    everyMs,
    feed,
    logger,
  }: { readonly everyMs: number; readonly feed: Pick<EventFeed, 'subscribe'>; readonly logger: ApiLogger },
): void {
  const look = (): void => {
    accessNow().then(
      (access) => {
        if (access === 'GONE') socket.close(CloseCode.Forbidden, 'Forbidden');
        // What runs has the former rights; it is checked again on the next socket.
        if (access === 'CHANGED') socket.close(tryAgainLater, 'Your rights have changed');
      },
      (error: unknown) => logger.warn({ err: error }, 'the key of a GraphQL socket could not be looked at'),
    );
  };
  const timer = setInterval(look, everyMs).unref();
  const unsubscribe = feed.subscribe('access', look);
  socket.once('close', () => {
    clearInterval(timer);
    unsubscribe();
  });
}
