/**
 * Answers to uploads. They are always sent, within the size that devices read at once, after the
 * body was read. [xiaozhi §6]
 */
import type { IncomingMessage } from 'node:http';
import type { JsonAnswer } from '../send-json.js';
import type { UploadLimits } from './upload-limits.js';
import type { UploadRefusal } from './upload-refusal.js';

/** `success` and `message` are what firmware expects; `code` is the hub's. */
export function refusalAnswer({ code, message, status }: UploadRefusal): JsonAnswer {
  return { status, body: { success: false, code, message } };
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
      .on('error', () => undefined)
      // `unpipe` has paused the request, and a listener alone does not resume it.
      .resume();
  });
}
