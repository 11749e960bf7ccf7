/** Joins one ws socket to graphql-ws: pings, back-pressure, and a log line where the library's own binding would write to the console. */
import { CloseCode, type Server } from 'graphql-ws';
import type { RawData, WebSocket } from 'ws';
import type { ApiLogger } from '../api-deps.js';

/** A peer that does not answer a ping until the next one is gone. */
const pingMs = 15_000;

export interface SocketRules {
  readonly logger: ApiLogger;
  readonly backlogBytesMax: number;
  readonly remoteAddress: string | undefined;
  /** Of the session that a browser's page upgraded with. */
  readonly token: string | undefined;
}

/** What graphql-ws keeps for us with each connection. */
export interface SocketOfConnection {
  readonly socket: WebSocket;
  readonly remoteAddress: string | undefined;
  readonly token: string | undefined;
}

export function bindSocket(
  socket: WebSocket,
  server: Server<SocketOfConnection>,
  { logger, backlogBytesMax, remoteAddress, token }: SocketRules,
): void {
  const stopPings = pingUntilDead(socket);
  const fail = (error: unknown): void => {
    logger.error({ err: error }, 'a GraphQL socket failed inside');
    socket.close(CloseCode.InternalServerError, 'Internal server error');
  };
  // Frames that break the protocol or a limit; ws closes with the code that fits (1002, 1007, 1009).
  socket.on('error', (error) => logger.debug({ err: error }, 'a GraphQL socket broke'));
  const closed = server.opened(
    {
      protocol: socket.protocol,
      send: (text) => send(socket, text, backlogBytesMax),
      close: (code, reason) => socket.close(code, reason),
      onMessage: (take) => socket.on('message', (data) => void take(textOf(data)).catch(fail)),
    },
    { socket, remoteAddress, token },
  );
  socket.once('close', (code, reason) => {
    stopPings();
    closed(code, reason.toString()).catch(fail);
  });
}

/** Resolves when the bytes are with the kernel: the operation behind them waits meanwhile. */
function send(socket: WebSocket, text: string, backlogBytesMax: number): Promise<void> {
  if (socket.bufferedAmount > backlogBytesMax) socket.terminate();
  return new Promise((resolve) => {
    if (socket.readyState !== socket.OPEN) resolve();
    else socket.send(text, () => resolve());
  });
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString();
  return Buffer.isBuffer(data) ? data.toString() : Buffer.from(data).toString();
}

function pingUntilDead(socket: WebSocket): () => void {
  let isAlive = true;
  socket.on('pong', () => (isAlive = true));
  const timer = setInterval(() => {
    if (!isAlive) return socket.terminate();
    isAlive = false;
    socket.ping();
  }, pingMs).unref();
  return () => clearInterval(timer);
}
