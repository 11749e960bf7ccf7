/**
 * A usual reverse proxy: ends TLS and says so, adds the client to X-Forwarded-For, keeps Host, and
 * connects from another address.
 */
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

export interface ForwardingProxy {
  readonly httpUrl: string;
  readonly httpPort: number;
  /** The address of the next clients. What they send in the header is to the left of it. */
  client: string;
  close(): void;
}

export async function startForwardingProxy(hub: { readonly httpPort: number }, from: string): Promise<ForwardingProxy> {
  const onward = ({ method, url, headers }: IncomingMessage) => {
    const forwardedFor = [headers['x-forwarded-for'], proxy.client].filter((part) => part !== undefined).join(', ');
    const added = { 'x-forwarded-for': forwardedFor, 'x-forwarded-proto': 'https' };
    const options = {
      host: '127.0.0.1',
      port: hub.httpPort,
      localAddress: from,
      method,
      path: url,
      headers: { ...headers, ...added },
    };
    return httpRequest(options).on('error', () => undefined);
  };
  const server = createServer((request, response) => {
    const asked = onward(request).on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    request.pipe(asked);
  });
  server.on('upgrade', (request, socket) => {
    const lines = (answer: IncomingMessage) =>
      answer.rawHeaders
        .flatMap((name, index, raw) => (index % 2 === 0 ? [`${name}: ${raw[index + 1]}`] : []))
        .join('\r\n');
    const asked = onward(request);
    asked.on('upgrade', (answer, upstream, head) => {
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines(answer)}\r\n\r\n`);
      socket.write(head);
      upstream.on('error', () => socket.destroy());
      socket.on('error', () => upstream.destroy());
      upstream.pipe(socket).pipe(upstream);
    });
    asked.on('response', (answer) => socket.end(`HTTP/1.1 ${answer.statusCode} Refused\r\n${lines(answer)}\r\n\r\n`));
    asked.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const proxy: ForwardingProxy = {
    httpUrl: `http://127.0.0.1:${port}`,
    httpPort: port,
    client: '198.51.100.1',
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  return proxy;
}
