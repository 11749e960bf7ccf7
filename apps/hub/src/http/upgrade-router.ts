/** The one listener of `upgrade` on the process's HTTP server: hands each request to whoever contributed its path, and refuses the rest. */
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

/** Takes over one upgrade request, socket included. */
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

/** Destroyed once the answer has left: a peer that does not end its side would keep the socket open. */
function refuse(socket: Duplex, paths: readonly string[]): void {
  const body = JSON.stringify({
    code: 'NOT_FOUND',
    message: `Nothing takes WebSocket connections at this path. Paths that do: ${paths.join(', ')}.`,
  });
  socket.on('error', () => socket.destroy());
  socket.end(
    `HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}
