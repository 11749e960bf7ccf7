/**
 * A proxy that closes the connection of chosen requests, so that the client cannot know whether
 * they arrived.
 */
import { createServer, request as httpRequest } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface BreakingProxy {
  readonly httpUrl: string;
  close(): void;
}

/** `isLost` is asked of each request, by its body. */
export async function startBreakingProxy(
  hub: { readonly httpPort: number },
  isLost: (body: string) => boolean,
): Promise<BreakingProxy> {
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      if (isLost(body)) return request.socket.destroy();
      const { method, url, headers } = request;
      const onward = httpRequest({ host: '127.0.0.1', port: hub.httpPort, method, path: url, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      onward.on('error', () => request.socket.destroy());
      return onward.end(body);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    httpUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
