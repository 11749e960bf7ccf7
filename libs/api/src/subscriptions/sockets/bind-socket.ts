/**
 * Connects one ws socket to graphql-ws: pings, back-pressure, batched writes, and a log line where
 * the binding of the library would use the console.
 */
import type { Duplex } from 'node:stream';
import { CloseCode, type Server } from 'graphql-ws';
import type { RawData, WebSocket } from 'ws';
import type { ApiLogger } from '../../api-logger.js';
import type { Place } from './socket-places.js';

/** A peer that does not answer a ping until the next one is gone. */
const pingMs = 15_000;

/**
 * Bytes that may wait for the kernel while an operation continues, so that small messages share a
 * write.
 */
export const aheadBytesMax = 65_536;

interface SocketRules {
  readonly logger: ApiLogger;
  readonly backlogBytesMax: number;
  /** Bytes that a client may send. */
  readonly unauthenticatedBytesMax: number;
  readonly place: Place;
  /** Of which the socket was made. */
  readonly stream: Duplex;
  readonly remoteAddress: string | undefined;
  /** The session in the cookie of the upgrade request. */
  readonly token: string | undefined;
}

/** What graphql-ws keeps for us with each connection. */
export interface SocketOfConnection {
  readonly socket: WebSocket;
  /** Messages as they go over the wire (text-frames.ts); resolves when the next ones may follow. */
  readonly sendFrames: (frames: Buffer) => Promise<void>;
  readonly remoteAddress: string | undefined;
  readonly token: string | undefined;
  readonly place: Place;
}

/** Of the WebSocket protocol: the message is too big. [RFC 6455 §7.4.1] */
const messageTooBig = 1009;

export function bindSocket(
  socket: WebSocket,
  server: Server<SocketOfConnection>,
  { logger, backlogBytesMax, unauthenticatedBytesMax, place, stream, remoteAddress, token }: SocketRules,
): void {
  boundUnauthenticated(stream, place, unauthenticatedBytesMax, () =>
    socket.close(messageTooBig, 'Send connection_init first'),
  );
  const stopPings = pingUntilDead(socket);
  const hold = holdForTurn(stream);
  const sendBounded = (write: (done?: () => void) => void): Promise<void> => {
    hold();
    return writeBounded(socket, write, backlogBytesMax);
  };
  // ws writes each frame whole, so frames written next to it never mix with its frames.
  const sendFrames = (frames: Buffer): Promise<void> => sendBounded((done) => void stream.write(frames, done));
  const fail = (error: unknown): void => {
    logger.error({ err: error }, 'a GraphQL socket failed inside');
    socket.close(CloseCode.InternalServerError, 'Internal server error');
  };
  // A frame broke the protocol or a limit; ws closes with the right code (1002, 1007, 1009).
  socket.on('error', (error) => logger.debug({ err: error }, 'a GraphQL socket broke'));
  const closed = server.opened(
    {
      protocol: socket.protocol,
      send: (text) => sendBounded((done) => socket.send(text, done)),
      close: (code, reason) => socket.close(code, reason),
      onMessage: (take) => socket.on('message', (data) => void take(textOf(data)).catch(fail)),
    },
    { socket, sendFrames, remoteAddress, token, place },
  );
  socket.once('close', (code, reason) => {
    stopPings();
    closed(code, reason.toString()).catch(fail);
  });
}

/**
 * A client without a key gets a smaller message limit, because its messages use memory of the hub.
 */
function boundUnauthenticated(stream: Duplex, place: Place, bytesMax: number, end: () => void): void {
  let bytes = 0;
  const count = (chunk: Buffer): void => {
    if (!place.isUnauthenticated()) return void stream.off('data', count);
    bytes += chunk.length;
    if (bytes <= bytesMax) return;
    stream.off('data', count);
    end();
  };
  stream.on('data', count);
}

/**
 * Writes of one turn of the event loop share a system call; a busy subscriber needs one per turn.
 */
function holdForTurn(stream: Duplex): () => void {
  let isHeld = false;
  return () => {
    if (isHeld) return;
    isHeld = true;
    stream.cork();
    setImmediate(() => {
      isHeld = false;
      stream.uncork();
    });
  };
}

/**
 * Resolves when the next message may follow: with much in the buffer, when the kernel has it all.
 */
function writeBounded(socket: WebSocket, write: (done?: () => void) => void, backlogBytesMax: number): Promise<void> {
  if (socket.bufferedAmount > backlogBytesMax) socket.terminate();
  if (socket.readyState !== socket.OPEN) return Promise.resolve();
  if (socket.bufferedAmount > aheadBytesMax) return new Promise((resolve) => write(() => resolve()));
  write();
  return Promise.resolve();
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
