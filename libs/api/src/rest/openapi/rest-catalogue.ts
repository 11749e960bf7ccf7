/** The routes of this process below /api/, as Fastify reports each added route. */
import type { FastifyContextConfig, FastifyInstance, RouteOptions } from 'fastify';
import type { Scope } from '@flotilla/registry';
import type { RestRoute } from '../rest-routes.js';
import { openApiDocument, type ServedRoute } from './openapi-document.js';
import { routeDescriptions } from './route-descriptions.js';

/** What a REST route leaves in Fastify's `config` about itself. */
interface RestRouteConfig extends FastifyContextConfig {
  readonly scope?: Scope;
}

/** To be called before the routes are added. */
export function catalogueRest(server: FastifyInstance): RestRoute {
  const routes: ServedRoute[] = [];
  server.addHook('onRoute', ({ method, url, config }: RouteOptions) => {
    if (!url.startsWith('/api/')) return;
    const { scope }: RestRouteConfig = config ?? {};
    for (const name of [method].flat()) if (name !== 'HEAD') routes.push({ method: name, url, scope });
  });
  let document: object | undefined;
  return {
    method: 'GET',
    url: '/openapi.json',
    // Any key may read it. It is not open, because invariant 8 lists all open paths.
    scope: undefined,
    handle: async (_request, reply) => reply.send((document ??= openApiDocument(routes, routeDescriptions))),
  };
}
