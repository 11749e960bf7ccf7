/** Answers HTTP requests of devices, which read the whole answer at once. [xiaozhi §6] */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

export interface JsonAnswer {
  readonly status: number;
  /** Under 6 KB as text. */
  readonly body: object;
}

export function sendJson(
  response: ServerResponse,
  { status, body }: JsonAnswer,
  headers: OutgoingHttpHeaders = {},
): void {
  const type = { 'Content-Type': 'application/json; charset=utf-8' };
  sendBytes(response, status, Buffer.from(JSON.stringify(body)), { ...type, ...headers });
}

export function sendBytes(
  response: ServerResponse,
  status: number,
  bytes: Uint8Array,
  headers: OutgoingHttpHeaders,
): void {
  response.writeHead(status, {
    'Content-Length': bytes.byteLength,
    'Cache-Control': 'no-store',
    Connection: 'close',
    ...headers,
  });
  response.end(bytes);
}
