/**
 * Reads the body of a device's request within limits. Exceeding them is no reason to reject the
 * request: its headers identify the device.
 */
import type { IncomingMessage } from 'node:http';
import type { Clock } from '@flotilla/session';

export interface BodyLimits {
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

/** Returns undefined if the connection ended first. Never rejects. */
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
    request.on('data', take);
    request.once('end', () => settle({ bytes: Buffer.concat(chunks), isWhole: size <= limits.bodyBytesMax }));
    request.once('close', () => settle(undefined));
    request.on('error', () => settle(undefined));
  });
}

const cut: ReadBody = { bytes: Buffer.alloc(0), isWhole: false };
