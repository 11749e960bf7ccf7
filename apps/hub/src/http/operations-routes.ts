/** Routes for operations: liveness, readiness and metrics. */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { GatewayOccupancy } from '@flotilla/gateway';
import type { MetricsAccess } from './metrics-keys.js';

/** A number means that this address must wait, in ms, after too many wrong keys. */
type MetricsAnswer = MetricsAccess | number;

interface OperationsDeps {
  /** Callers on this machine need no key for metrics. */
  readonly isOpenOnLoopback: boolean;
  /** The process stops soon, and load balancers should use another one. */
  readonly isDraining: () => boolean;
  /** Undefined if this process is not a gateway. */
  readonly gateway: (() => GatewayOccupancy) | undefined;
  /** What does not work now; empty when the hub is ready. */
  readonly notReady: () => Promise<readonly string[]>;
  readonly scrape: () => Promise<{ readonly contentType: string; readonly text: string }>;
  /**
   * Whether this bearer key may read metrics. `refused`: not a valid key; `forbidden`: without the
   * right; `undecided`: PostgreSQL does not answer.
   */
  readonly metricsAccess: (key: string | undefined, request: IncomingMessage) => Promise<MetricsAnswer>;
}

const loopback = /^(127\.|::1$|::ffff:127\.)/;
/** Headers that proxies add. */
const forwarding = /^(x-forwarded-.*|forwarded|x-real-ip|via)$/;

export function addOperationsRoutes(server: FastifyInstance, deps: OperationsDeps): void {
  server.get('/health/live', () => ({ status: 'ok' }));

  server.get('/health/ready', async (_request, reply) => {
    if (deps.isDraining()) return reply.code(503).send({ status: 'draining', problems: ['draining'] });
    const problems = await deps.notReady();
    if (problems.length > 0) reply.code(503);
    return { status: problems.length === 0 ? 'ok' : 'unavailable', problems };
  });

  const { gateway } = deps;
  if (gateway)
    server.get('/health/gateway', async (_request, reply) => {
      const { sessions, max, isFull, isDraining } = gateway();
      const isReady = !isDraining && !isFull && (await deps.notReady()).length === 0;
      return reply.code(isReady ? 200 : 503).send({ sessions, max, ready: isReady, draining: isDraining });
    });

  server.get('/metrics', async (request, reply) => {
    const access =
      deps.isOpenOnLoopback && isFromThisMachine(request)
        ? 'granted'
        : await deps.metricsAccess(bearer(request), request.raw);
    if (typeof access === 'number') {
      reply.code(429).header('retry-after', Math.ceil(access / 1_000));
      return {
        code: 'RATE_LIMITED',
        message: 'Too many requests with invalid keys from this address. Check the key, and try again later.',
      };
    }
    if (access === 'refused') {
      reply.code(401).header('www-authenticate', 'Bearer');
      return {
        code: 'UNAUTHENTICATED',
        message: 'Metrics need a key with the scope EVENTS_READ, as Authorization: Bearer <key>.',
      };
    }
    if (access === 'forbidden') {
      reply.code(403);
      return {
        code: 'FORBIDDEN',
        message:
          'Metrics cover the whole fleet. Use a key with the scope EVENTS_READ that is not limited to some devices.',
      };
    }
    if (access === 'undecided') {
      reply.code(503);
      return {
        code: 'UNAVAILABLE',
        message: 'PostgreSQL does not answer, so the key cannot be checked. Try again later.',
      };
    }
    const { contentType, text } = await deps.scrape();
    return reply.header('content-type', contentType).send(text);
  });
}

/** False behind a proxy on this machine, unless the proxy adds no header. See FLOTILLA_METRICS. */
function isFromThisMachine({ headers, socket }: FastifyRequest): boolean {
  return !Object.keys(headers).some((name) => forwarding.test(name)) && loopback.test(socket.remoteAddress ?? '');
}

function bearer(request: FastifyRequest): string | undefined {
  return /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1];
}
