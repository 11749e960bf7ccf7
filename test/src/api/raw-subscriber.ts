/**
 * Subscriptions on one connection of graphql-transport-ws, whose messages are handed over as bytes:
 * for subscribers that are shown more than a client can parse beside a hub.
 */
import { WebSocket } from 'ws';
import type { HubProcess } from '../hub/hub-process.js';

export interface RawOperation {
  readonly id: string;
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

export interface RawListener {
  /** Each message after the connection was acknowledged. */
  readonly message: (data: Buffer) => void;
  /** Resolves when the hub closed the connection, also when it never opened. */
  readonly closed: () => void;
}

/** The answer ends it, without a further word to the listener. */
export function subscribeRaw(
  hub: Pick<HubProcess, 'httpUrl' | 'adminKey'>,
  operations: readonly RawOperation[],
  { message, closed }: RawListener,
): () => void {
  const socket = new WebSocket(`${hub.httpUrl.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  const say = (content: object): void => socket.send(JSON.stringify(content));
  socket.once('open', () => say({ type: 'connection_init', payload: { authorization: `Bearer ${hub.adminKey}` } }));
  socket.once('message', () => {
    socket.on('message', message);
    for (const { id, query, variables } of operations) say({ id, type: 'subscribe', payload: { query, variables } });
  });
  socket.on('close', closed).on('error', () => undefined);
  return () => void socket.removeListener('close', closed).removeAllListeners('message').close();
}
