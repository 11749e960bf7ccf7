/** The routes of this process below /api/, as Fastify reports each added route. */
import type { IncomingMessage } from 'node:http';
import type { FastifyContextConfig, FastifyInstance, RouteOptions } from 'fastify';
import type { Scope } from '@flotilla/registry';
import { cookieName } from '../../sign-in/cookies.js';
import type { RestRoute } from '../rest-routes.js';
import { openApiDocument, type ServedRoute } from './openapi-document.js';
import { routeDescriptions } from './route-descriptions.js';

/** What a REST route leaves in Fastify's `config` about itself. */
interface RestRouteConfig extends FastifyContextConfig {
  readonly scope?: Scope;
}

/** To be called before the routes are added. `isSecure`: the browser reaches this hub by HTTPS. */
export function catalogueRest(server: FastifyInstance, isSecure: (request: IncomingMessage) => boolean): RestRoute {
  const routes: ServedRoute[] = [];
  server.addHook('onRoute', ({ method, url, config }: RouteOptions) => {
    if (!url.startsWith('/api/')) return;
    const { scope }: RestRouteConfig = config ?? {};
    for (const name of [method].flat()) if (name !== 'HEAD') routes.push({ method: name, url, scope });
  });
  const documents = new Map<string, object>();
  const documentWith = (sessionCookie: string): object => {
    const document = documents.get(sessionCookie) ?? openApiDocument(routes, routeDescriptions, sessionCookie);
    documents.set(sessionCookie, document);
    return document;
  };
  return {
    method: 'GET',
    url: '/openapi.json',
    // Any key may read it. It is not open, because invariant 8 lists all open paths.
    scope: undefined,
    handle: async ({ raw }, reply) => reply.send(documentWith(cookieName('flotilla-session', isSecure(raw)))),
  };
}
