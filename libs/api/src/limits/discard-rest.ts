import type { IncomingMessage } from 'node:http';

/**
 * Reads and discards what is left of a request, because a client that still sends does not read
 * the answer. After `bytesMax` the connection is cut. Never rejects.
 */
export function discardRest(request: IncomingMessage, bytesMax: number): Promise<void> {
  if (request.complete || request.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > bytesMax) request.destroy();
    });
    request.once('end', resolve);
    request.once('close', resolve);
    request.resume();
  });
}
