/** Ends a socket whose key or session stops being valid while subscriptions run on it. */
import type { EventFeed } from '@flotilla/bus';
import { CloseCode } from 'graphql-ws';
import type { WebSocket } from 'ws';
import type { ApiLogger } from '../../api-logger.js';

/**
 * Checks the access of an open socket on notifications and from time to time, as those may be lost.
 * A failed check keeps it open.
 */
export function watchKey(
  socket: WebSocket,
  isKeyKnown: () => Promise<boolean>,
  {
    everyMs,
    feed,
    logger,
  }: { readonly everyMs: number; readonly feed: Pick<EventFeed, 'subscribe'>; readonly logger: ApiLogger },
): void {
  const look = (): void => {
    isKeyKnown().then(
      (isKnown) => {
        if (!isKnown) socket.close(CloseCode.Forbidden, 'Forbidden');
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
