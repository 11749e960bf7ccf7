/** Ends a socket whose key stops being valid while subscriptions run on it. */
import { CloseCode } from 'graphql-ws';
import type { WebSocket } from 'ws';
import type { ApiLogger } from '../api-deps.js';

/** Looks until the socket closes. A look that fails is no verdict: the socket stays open. */
export function watchKey(
  socket: WebSocket,
  isKeyKnown: () => Promise<boolean>,
  { everyMs, logger }: { readonly everyMs: number; readonly logger: ApiLogger },
): void {
  const look = async (): Promise<void> => {
    if (!(await isKeyKnown())) socket.close(CloseCode.Forbidden, 'Forbidden');
  };
  const timer = setInterval(() => {
    look().catch((error: unknown) => logger.warn({ err: error }, 'the key of a GraphQL socket could not be looked at'));
  }, everyMs).unref();
  socket.once('close', () => clearInterval(timer));
}
