/** Takes in the body of a device's request within bounds. A body that breaks them is no reason to refuse: the device is then known by its headers alone. */
import type { IncomingMessage } from 'node:http';
import type { Clock } from '@flotilla/session';

export interface BodyLimits {
  /** Bytes kept. A description has about 1.5 KB. [xiaozhi §9, 38] */
  readonly bodyBytesMax: number;
  /** Bytes read and thrown away beyond it, because a device that is still sending does not hear the answer. */
  readonly surplusBytesMax: number;
  /** How long a body may take, ms. */
  readonly bodyTimeoutMs: number;
}

export const defaultBodyLimits: BodyLimits = {
  bodyBytesMax: 64 * 1024,
  surplusBytesMax: 1024 * 1024,
  bodyTimeoutMs: 5_000,
};

/** Empty where the body was too long or did not end in time. Undefined where the connection ended first. Never rejects. */
export function readBody(request: IncomingMessage, limits: BodyLimits, clock: Clock): Promise<string | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (text: string | undefined) => {
      cancelDeadline();
      request.off('data', take);
      request.resume();
      resolve(text);
    };
    const take = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limits.bodyBytesMax) chunks.push(chunk);
      else chunks.length = 0;
      if (size > limits.bodyBytesMax + limits.surplusBytesMax) settle('');
    };
    const cancelDeadline = clock.setTimer(limits.bodyTimeoutMs, () => settle(''));
    request.on('data', take);
    request.once('end', () => settle(Buffer.concat(chunks).toString('utf8')));
    request.once('close', () => settle(undefined));
    request.on('error', () => settle(undefined));
  });
}
