/** A voice server for trying the hub's relay: `npm run simulate:voice`. */
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import { ServerConversation } from './server-conversation.js';
import { readServerOptions } from './server-options.js';
import { isSignedBy } from './voice-token.js';

const { host, misbehaviour, notBound, port, signingKey, token, tool } = readServerOptions(process.argv);

const server = new WebSocketServer({
  host,
  port,
  verifyClient: ({ req }: { readonly req: IncomingMessage }) =>
    token === undefined || req.headers.authorization === `Bearer ${token}`,
});

function print(line: Readonly<Record<string, unknown>>): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

server.on('connection', (socket, request) => {
  if (signingKey !== undefined && !isSignedBy(signingKey, request.headers, Date.now())) return refuseToken(socket);
  const device = String(request.headers['device-id']);
  const isBound = !notBound.includes('*') && !notBound.includes(device);
  const conversation = new ServerConversation(socket, device, { misbehaviour, tool, isBound });
  socket.on('close', () => print({ event: 'ended', ...conversation.counts }));
});
server.on('error', (error) => {
  process.stderr.write(`The voice server cannot listen: ${error.message}. Give another --port.\n`);
  process.exit(1);
});
server.on('listening', () =>
  print({ event: 'listening', url: `ws://${host}:${(server.address() as AddressInfo).port}/` }),
);

/** As xiaozhi-esp32-server does: after a handshake, a plain text says that the token is wrong. */
function refuseToken(socket: WebSocket): void {
  socket.on('error', () => undefined);
  socket.send('认证失败');
  socket.close();
}

function stop(): void {
  for (const socket of server.clients) socket.terminate();
  server.close(() => process.exit(0));
}

process.once('SIGINT', stop);
process.once('SIGTERM', stop);
