/** What whoever runs the hub asks it: is it alive, is it ready, and its metrics. */
import type { FastifyInstance, FastifyRequest } from 'fastify';

export interface OperationsDeps {
  /** Names of what is not working now; empty when the hub is ready. */
  readonly notReady: () => Promise<readonly string[]>;
  readonly scrape: () => Promise<{ readonly contentType: string; readonly text: string }>;
  /** Whether this bearer key may read metrics. */
  readonly mayReadMetrics: (key: string | undefined) => Promise<boolean>;
}

const loopback = /^(127\.|::1$|::ffff:127\.)/;

export function addOperationsRoutes(server: FastifyInstance, deps: OperationsDeps): void {
  server.get('/health/live', () => ({ status: 'ok' }));

  server.get('/health/ready', async (_request, reply) => {
    const problems = await deps.notReady();
    if (problems.length > 0) reply.code(503);
    return { status: problems.length === 0 ? 'ok' : 'unavailable', problems };
  });

  server.get('/metrics', async (request, reply) => {
    if (!isFromThisMachine(request) && !(await deps.mayReadMetrics(bearer(request)))) {
      reply.code(401).header('www-authenticate', 'Bearer');
      return { code: 'UNAUTHENTICATED', message: 'Metrics need a key with the scope EVENTS_READ, as Authorization: Bearer <key>.' };
    }
    const { contentType, text } = await deps.scrape();
    return reply.header('content-type', contentType).send(text);
  });
}

/** A reverse proxy on this machine connects from loopback as well: what it forwards is not from this machine. */
function isFromThisMachine(request: FastifyRequest): boolean {
  const isForwarded = request.headers['x-forwarded-for'] !== undefined || request.headers.forwarded !== undefined;
  return !isForwarded && loopback.test(request.socket.remoteAddress ?? '');
}

function bearer(request: FastifyRequest): string | undefined {
  return /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1];
}
