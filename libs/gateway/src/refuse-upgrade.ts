/** Answers a rejected WebSocket handshake with JSON and ends the socket. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

export interface UpgradeRefusal {
  readonly status: 400 | 401 | 429 | 503;
  /** A code in upper case, as in the whole hub. */
  readonly code: 'HANDSHAKE_INVALID' | 'UNAUTHORIZED' | 'OVERLOADED';
  readonly message: string;
  /** The earliest time to try again. */
  readonly retryAfterSeconds?: number;
}

export function refuseUpgrade(socket: Duplex, refusal: UpgradeRefusal): void {
  const body = JSON.stringify({ code: refusal.code, message: refusal.message });
  const head = [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(refusal.retryAfterSeconds === undefined ? [] : [`Retry-After: ${refusal.retryAfterSeconds}`]),
  ];
  socket.on('error', () => socket.destroy());
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
