/** Answers to uploads: always given, whole, under the size that devices read in one go, and heard, because the body is read first. [xiaozhi §6] */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { UploadLimits } from './upload-limits.js';
import type { UploadRefusal } from './upload-refusal.js';

export interface UploadAnswer {
  readonly status: number;
  readonly body: object;
}

/** `success` and `message` are the words of the firmware's world, `code` is ours. */
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

/** Reads what is left of a body and throws it away, within bounds. Never rejects. */
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
