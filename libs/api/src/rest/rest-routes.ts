/**
 * The REST routes: files in and out. Each route names its scope. A refusal is `{"code","message"}`
 * with the status of its code.
 */
import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Principal, Scope } from '@flotilla/registry';
import { ApiError } from '../errors/api-error.js';
import { refuseViewer } from '../access/guard-scopes.js';
import { budgetHeaders, type CostBudget } from '../limits/cost-budget.js';
import { refuseUnfitInput } from '../limits/input-bounds.js';
import { sendError } from '../errors/send-refusal.js';
import type { Callers } from '../sign-in/callers.js';

export interface RestRoute {
  readonly method: 'GET' | 'POST';
  /** With Fastify's parameters, such as `/api/jobs/:id/results.csv`; described in openapi/. */
  readonly url: `/api/${string}` | '/openapi.json';
  /** Undefined: any valid key or session. */
  readonly scope: Scope | undefined;
  /** Whether it is about the whole fleet: a scoped key may not. */
  readonly isFleetWide?: boolean;
  /** The body is not read: a route that takes one reads `request.raw`. May throw ApiError. */
  handle(request: FastifyRequest, reply: FastifyReply, viewer: Principal): Promise<FastifyReply>;
}

interface RestDeps {
  readonly callers: Pick<Callers, 'ofRequest'>;
  readonly budget: CostBudget;
  /** Points of each request. */
  readonly requestCost: number;
  /** Ms between checks whether the caller of an open request still may. */
  readonly keyCheckMs: number;
}

/** In a separate scope, because bodies are streams here and errors have another form. */
export function serveRest(
  server: FastifyInstance,
  { callers, budget, requestCost, keyCheckMs }: RestDeps,
  routes: readonly RestRoute[],
): void {
  void server.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null));
    scope.setErrorHandler((error, _request, reply) => sendError(reply, error));
    for (const { method, url, scope: needed, isFleetWide = false, handle } of routes) {
      const rule = needed && {
        name: `${method} ${url}`,
        scope: needed,
        isFleetWide: isFleetWide || needed === 'ADMIN',
      };
      const callerOf = async ({ raw }: FastifyRequest, watched?: 'watched'): Promise<Principal> => {
        const { viewer } = await callers.ofRequest(raw, method !== 'GET', watched);
        if (rule) refuseViewer(viewer, rule);
        return viewer;
      };
      scope.route({
        method,
        url,
        config: { scope: needed },
        handler: async (request, reply) => {
          const viewer = await callerOf(request);
          watchCaller(reply.raw, () => callerOf(request, 'watched'), keyCheckMs);
          refuseUnfitInput(request.params);
          refuseUnfitInput(request.query);
          void reply.headers(budgetHeaders(await budget.spend(viewer, requestCost)));
          return handle(request, reply, viewer);
        },
      });
    }
    done();
  });
}

/**
 * Ends the connection where the caller has lost the rights: a slow client could read new rows for
 * hours, or complete an upload. A failed check changes nothing.
 */
function watchCaller(response: ServerResponse, callerNow: () => Promise<unknown>, everyMs: number): void {
  // The client has disconnected already: `close` does not come again.
  if (response.destroyed) return;
  const check = () =>
    callerNow().catch((error: unknown) => {
      if (error instanceof ApiError) response.destroy();
    });
  const timer = setInterval(() => void check(), everyMs).unref();
  response.once('close', () => clearInterval(timer));
}
