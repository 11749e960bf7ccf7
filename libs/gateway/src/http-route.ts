/** What the gateway answers over plain HTTP: raw handlers, because devices' requests are parsed by rules of their own and no framework may read their body first. */
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface HttpRoute {
  readonly method: 'GET' | 'HEAD' | 'POST';
  /** Exact, or ending in `/*`, which stands for anything below. */
  readonly path: string;
  /** Owns request and response, errors included. Never throws. */
  handle(request: IncomingMessage, response: ServerResponse): void;
}
