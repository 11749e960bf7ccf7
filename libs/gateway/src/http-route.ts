/** Raw handlers of HTTP requests of devices, whose bodies no framework may read first. */
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface HttpRoute {
  readonly method: 'GET' | 'HEAD' | 'POST';
  /** An exact path, or a prefix that ends in `/*`. */
  readonly path: string;
  /** Answers the request, also in case of errors. Never throws. */
  handle(request: IncomingMessage, response: ServerResponse): void;
}
