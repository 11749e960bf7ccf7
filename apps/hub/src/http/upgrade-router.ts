/** Routes `upgrade` requests of the HTTP server by path, and refuses unknown paths. */
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

/** Handles one upgrade request and owns its socket. */
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** Paths match exactly, with or without a slash at the end. */
export function routeUpgrades(server: Server, routes: ReadonlyMap<string, UpgradeHandler>): void {
  const handlers = new Map([...routes].map(([path, handler]) => [withoutSlash(path), handler]));
  server.on('upgrade', (request, socket, head) => {
    const path = withoutSlash((request.url ?? '').split('?', 1)[0] ?? '');
    const handler = handlers.get(path);
    if (handler) handler(request, socket, head);
    else refuse(socket, [...handlers.keys()]);
  });
}

function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

/** Destroys the socket after the answer, because a silent peer would keep it open. */
function refuse(socket: Duplex, paths: readonly string[]): void {
  const body = JSON.stringify({
    code: 'NOT_FOUND',
    message: `There is no WebSocket endpoint at this path. Use one of: ${paths.join(', ')}.`,
  });
  socket.on('error', () => socket.destroy());
  const head = [
    'HTTP/1.1 404 Not Found',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
