/**
 * The HTTP server of the process, with TLS when there is a certificate. Routes of devices come
 * before the framework, which would read their bodies.
 */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { limitConnections } from './connection-limit.js';
import type { DeviceRoutes } from './device-routes.js';
import type { OpenRequests } from './open-requests.js';
import type { TlsFiles } from './tls-files.js';
import { WebSocketOnlyRequest } from './websocket-only-request.js';

/** The largest request body, bytes: enough for a GraphQL document with many device ids. */
const HTTP_BODY_BYTES_MAX = 1024 * 1024;

/** Time for the headers of a request, ms. */
const HTTP_HEADERS_TIMEOUT_MS = 30_000;

/**
 * Time for a whole request, ms. A firmware image of 64 MiB takes nine minutes at 1 Mbit/s. Routes
 * that read bodies set lower limits.
 */
const HTTP_REQUEST_TIMEOUT_MS = 600_000;

/**
 * Time that an idle connection stays open, ms. Longer than the minute of most proxies, so that the
 * proxy closes it.
 */
const HTTP_KEEP_ALIVE_MS = 72_000;

/**
 * Browsers then use only HTTPS for a year. Without TLS the proxy in front sends this header. [RFC
 * 6797 §7.1]
 */
const HSTS = 'max-age=31536000';

/**
 * Time for a part of the API to load, ms. The framework's 10 s end the start of a hub on a machine
 * that is busy with other processes.
 */
const PLUGIN_WITHIN_MS = 120_000;

interface HttpServerOptions {
  readonly deviceRoutes: DeviceRoutes;
  readonly openRequests: OpenRequests;
  readonly tls: TlsFiles | undefined;
  readonly logger: Logger;
  /** Called for each route of the framework, with `METHOD path`. */
  readonly onRoute: (route: string) => void;
  readonly pages: UnknownPages;
}

/** What a browser receives at an address that does not exist, once the API has it. */
export interface UnknownPages {
  send?: ((reply: FastifyReply) => FastifyReply) | undefined;
}

export function makeHttpServer({
  deviceRoutes,
  openRequests,
  tls,
  logger,
  onRoute,
  pages,
}: HttpServerOptions): FastifyInstance {
  const server = fastify({
    bodyLimit: HTTP_BODY_BYTES_MAX,
    forceCloseConnections: true,
    pluginTimeout: PLUGIN_WITHIN_MS,
    // For example a URL that cannot be decoded.
    frameworkErrors: (error, _request, reply) => {
      void (reply as FastifyReply)
        .code(error.statusCode ?? 400)
        .send({ code: 'BAD_USER_INPUT', message: error.message });
    },
    serverFactory: (handle) =>
      limitConnections(
        listenerOf(tls, (request, response) => {
          openRequests.watch(request, response);
          if (tls) response.setHeader('strict-transport-security', HSTS);
          if (!deviceRoutes.take(request, response)) handle(request, response);
        }),
        logger,
      ),
  });
  server.addHook('onRoute', ({ method, url }) => [method].flat().forEach((name) => onRoute(`${name} ${url}`)));
  const refuse = refuseUnknownRoute(server, pages);
  // Refuses before the body is read.
  server.addHook('onRequest', (request, reply, done) => void (request.is404 ? refuse(request, reply) : done()));
  // For missing files.
  server.setNotFoundHandler(refuse);
  server.addHook('onError', (request, _reply, error, done) => {
    if ((error.statusCode ?? 500) >= 500)
      logger.error({ err: error, method: request.method, path: request.url.split('?', 1)[0] }, 'request failed');
    done();
  });
  return server;
}

/**
 * Answers 405 with `allow` when the path has other methods, else 404; in the error format of all
 * routes except GraphQL, but as a page to a person who opens the address in a browser.
 */
function refuseUnknownRoute(server: FastifyInstance, pages: UnknownPages) {
  return ({ method, url, headers }: FastifyRequest, reply: FastifyReply) => {
    if (pages.send && method === 'GET' && headers.accept?.includes('text/html')) return pages.send(reply.code(404));
    const [path = '/'] = url.split('?', 1);
    const allowed = server.supportedMethods.filter((name) => server.findRoute({ method: name, url: path }) !== null);
    if (allowed.length === 0 || allowed.includes(method))
      return reply.code(404).send({ code: 'NOT_FOUND', message: `There is nothing at ${path.slice(0, 200)}.` });
    const allow = allowed.join(', ');
    return reply
      .code(405)
      .header('allow', allow)
      .send({ code: 'BAD_USER_INPUT', message: `This path does not support ${method}. It supports ${allow}.` });
  };
}

function listenerOf(
  tls: TlsFiles | undefined,
  listener: RequestListener<typeof IncomingMessage, typeof ServerResponse>,
) {
  const options = {
    IncomingMessage: WebSocketOnlyRequest,
    headersTimeout: HTTP_HEADERS_TIMEOUT_MS,
    requestTimeout: HTTP_REQUEST_TIMEOUT_MS,
    keepAliveTimeout: HTTP_KEEP_ALIVE_MS,
  };
  if (tls === undefined) return createServer(options, listener);
  const server = createTlsServer({ ...options, ...tls.current }, listener);
  tls.keepCurrent(server);
  return server;
}
