/**
 * The status that a bare HTTP request gets: 101 where a WebSocket handshake was taken, which is
 * then broken off.
 */
import { request as httpRequest, type OutgoingHttpHeaders } from 'node:http';
import type { HubProcess } from '../hub/hub-process.js';

export interface BareRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: Buffer;
}

/** Headers of a WebSocket handshake as it should be. */
export const handshake = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
};

export function statusOf(
  hub: Pick<HubProcess, 'httpUrl'>,
  { method = 'GET', path, headers = {}, body }: BareRequest,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = httpRequest(`${hub.httpUrl}${path}`, { method, headers });
    asked.on('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.on('upgrade', (_response, socket) => {
      socket.destroy();
      resolve(101);
    });
    asked.on('error', reject);
    asked.end(body);
  });
}
