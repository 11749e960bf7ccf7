/** Answers an HTTP request of a device: devices read the whole answer at once. [xiaozhi §6] */
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
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    Connection: 'close',
    ...headers,
  });
  response.end(text);
}
