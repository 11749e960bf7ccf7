/** Reads or discards the body of a request within limits. */
import type { IncomingMessage } from 'node:http';
import type { Clock } from '@flotilla/session';

interface BodyLimits {
  /** Bytes kept. A description has about 1.5 KB. [xiaozhi §9, 38] */
  readonly bodyBytesMax: number;
  /** Further bytes that are discarded: a device that is sending does not read the answer. */
  readonly surplusBytesMax: number;
  /** The time for a whole body, ms. */
  readonly bodyTimeoutMs: number;
}

export const defaultBodyLimits: BodyLimits = {
  bodyBytesMax: 64 * 1024,
  surplusBytesMax: 1024 * 1024,
  bodyTimeoutMs: 5_000,
};

export interface ReadBody {
  /** Empty if the body was too long or did not end in time. */
  readonly bytes: Buffer;
  readonly isWhole: boolean;
}

/**
 * Exceeding the limits is no reason to reject the request of a device: its headers identify it.
 * Returns undefined if the connection ended first. Never rejects.
 */
export function readBody(request: IncomingMessage, limits: BodyLimits, clock: Clock): Promise<ReadBody | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (read: ReadBody | undefined) => {
      cancelDeadline();
      request.off('data', take);
      request.resume();
      resolve(read);
    };
    const take = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limits.bodyBytesMax) chunks.push(chunk);
      else chunks.length = 0;
      if (size > limits.bodyBytesMax + limits.surplusBytesMax) settle(cut);
    };
    const cancelDeadline = clock.setTimer(limits.bodyTimeoutMs, () => settle(cut));
    // A request that a form had before is paused.
    request.on('data', take).resume();
    request.once('end', () => settle({ bytes: Buffer.concat(chunks), isWhole: size <= limits.bodyBytesMax }));
    request.once('close', () => settle(undefined));
    request.on('error', () => settle(undefined));
  });
}

const cut: ReadBody = { bytes: Buffer.alloc(0), isWhole: false };

/** Reads and discards the rest of a body within limits. Never rejects. */
export async function drain(
  request: IncomingMessage,
  { surplusBytesMax, surplusMaxMs }: { readonly surplusBytesMax: number; readonly surplusMaxMs: number },
  clock: Clock,
): Promise<void> {
  if (request.readableEnded || request.destroyed) return;
  await readBody(request, { bodyBytesMax: 0, surplusBytesMax, bodyTimeoutMs: surplusMaxMs }, clock);
}
