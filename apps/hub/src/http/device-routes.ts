/** HTTP routes of devices, in front of the framework, so that a handler reads the raw body. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpRoute } from '@flotilla/gateway';

export class DeviceRoutes {
  readonly #exact = new Map<string, HttpRoute['handle']>();
  readonly #below: { readonly method: string; readonly prefix: string; readonly handle: HttpRoute['handle'] }[] = [];

  add(routes: readonly HttpRoute[]): void {
    for (const { method, path, handle } of routes) {
      if (path.endsWith('/*')) this.#below.push({ method, prefix: path.slice(0, -1), handle });
      else this.#exact.set(`${method} ${path}`, handle);
    }
  }

  /** All routes as `METHOD path`. */
  list(): readonly string[] {
    return [...this.#exact.keys(), ...this.#below.map(({ method, prefix }) => `${method} ${prefix}*`)];
  }

  /** Handles the request when a route matches; returns whether one did. */
  take(request: IncomingMessage, response: ServerResponse): boolean {
    const [path = ''] = (request.url ?? '').split('?', 1);
    const { method = '' } = request;
    const handle =
      this.#exact.get(`${method} ${path}`) ??
      this.#below.find((route) => route.method === method && path.startsWith(route.prefix))?.handle;
    handle?.(request, response);
    return handle !== undefined;
  }
}
