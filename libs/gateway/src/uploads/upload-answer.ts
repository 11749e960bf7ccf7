/**
 * Answers to uploads. They are always sent, within the size that devices read at once, after the
 * body was read. [xiaozhi §6]
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { UploadLimits } from './upload-limits.js';
import type { UploadRefusal } from './upload-refusal.js';

export interface UploadAnswer {
  readonly status: number;
  readonly body: object;
}

/** `success` and `message` are what firmware expects; `code` is the hub's. */
export function refusalAnswer({ code, message, status }: UploadRefusal): UploadAnswer {
  return { status, body: { success: false, code, message } };
}

export function sendAnswer(response: ServerResponse, { status, body }: UploadAnswer): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    Connection: 'close',
  });
  response.end(text);
}

/** Reads and discards the rest of a body within limits. Never rejects. */
export function drain(
  request: IncomingMessage,
  limits: Pick<UploadLimits, 'surplusBytesMax' | 'surplusMaxMs'>,
): Promise<void> {
  if (request.readableEnded || request.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    let bytes = 0;
    const timer = setTimeout(() => settle(), limits.surplusMaxMs);
    const count = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > limits.surplusBytesMax) settle();
    };
    const settle = () => {
      clearTimeout(timer);
      request.off('data', count).off('end', settle).off('close', settle);
      resolve();
    };
    request
      .on('data', count)
      .on('end', settle)
      .on('close', settle)
      .on('error', () => undefined);
  });
}
