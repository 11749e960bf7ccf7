/** Joins one ws socket to graphql-ws: pings, back-pressure, writes of one turn in one go, and a log line where the library's own binding would write to the console. */
import type { Duplex } from 'node:stream';
import { CloseCode, type Server } from 'graphql-ws';
import type { RawData, WebSocket } from 'ws';
import type { ApiLogger } from '../../api-deps.js';
import type { Place } from './socket-places.js';

/** A peer that does not answer a ping until the next one is gone. */
const pingMs = 15_000;

/** An operation goes on while no more than this waits for the kernel, so that many small messages are one write. */
export const aheadBytesMax = 65_536;

export interface SocketRules {
  readonly logger: ApiLogger;
  readonly backlogBytesMax: number;
  /** Bytes that a stranger may send. */
  readonly unauthenticatedBytesMax: number;
  readonly place: Place;
  /** Of which the socket was made. */
  readonly stream: Duplex;
  readonly remoteAddress: string | undefined;
  /** Of the session that a browser's page upgraded with. */
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
  // ws writes each of its frames to the same stream, whole and at once, so that frames written beside it never mix with them.
  const sendFrames = (frames: Buffer): Promise<void> => sendBounded((done) => void stream.write(frames, done));
  const fail = (error: unknown): void => {
    logger.error({ err: error }, 'a GraphQL socket failed inside');
    socket.close(CloseCode.InternalServerError, 'Internal server error');
  };
  // Frames that break the protocol or a limit; ws closes with the code that fits (1002, 1007, 1009).
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

/** The limit of a message is for those with a key: a stranger could have the hub hold as much for nothing. */
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

/** What is written in one turn of the event loop goes to the kernel together: a busy subscriber costs one system call a turn, not one a message. */
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

/** Resolves when the next message may follow: where much waits, when all of it is with the kernel. */
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
