/**
 * The MCP server at `/mcp`: Streamable HTTP for AI agents, in the current and the previous revision
 * of MCP. It decides which callers are admitted, and how long a stream stays open.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import type {
  AuthInfo,
  McpHandlerRequestOptions,
  McpHttpHandler,
  Server,
  ServerEventBus,
} from '@modelcontextprotocol/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { principalRef, type OpenCheck, type Scope } from '@flotilla/registry';
import { traceOf, viewOf } from '../api-context.js';
import { ApiError } from '../errors/api-error.js';
import type { ApiDeps, ClientOf } from '../api-deps.js';
import { bearerKey } from '../access/authentication.js';
import type { AgentCallers } from '../oauth/agent-callers.js';
import { challengeOf, scopeChallenge, TokenRefused } from '../oauth/challenge.js';
import { scopesToAskFor } from '../oauth/missing-scope.js';
import { sendRefusal } from '../errors/send-refusal.js';
import { waitHeaders } from '../errors/wait-headers.js';
import type { ApiLimits } from '../limits/api-limits.js';
import type { CostBudget } from '../limits/cost-budget.js';
import { admitPage, answerPreflight } from './session/admit-page.js';
import type { AgentCaller, ListingMode } from './session/agent-caller.js';
import { makeRequestServer, type RequestDeps } from './session/request-server.js';
import { audienceOf, keyOfAudience, ListingNotifications, type Audience } from './session/listing-notifications.js';
import { ToolCatalogue } from './tools/tool-catalogue.js';

const modes: readonly ListingMode[] = ['auto', 'full', 'compact'];

type McpServerDeps = Pick<ApiDeps, 'alerts' | 'registry' | 'fleet' | 'feed' | 'logger' | 'publicUrl'> & {
  readonly budget: CostBudget;
  readonly agents: AgentCallers;
  readonly clientOf: ClientOf;
};

interface OpenRequest {
  /** The key or token that it came with. */
  readonly key: string;
  readonly request: IncomingMessage;
}

export class McpServer {
  readonly #deps: McpServerDeps;
  readonly #limits: ApiLimits;
  readonly #agentDeps: RequestDeps;
  /** By audience. */
  readonly #handlers = new Map<string, McpHttpHandler>();
  readonly #notifications: ListingNotifications;
  readonly #callers = new WeakMap<AuthInfo, AgentCaller>();
  /** Requests that are being answered. */
  readonly #open = new Map<ServerResponse, OpenRequest>();
  readonly #keyCheck: NodeJS.Timeout;
  readonly #stopListening: () => void;

  constructor(deps: McpServerDeps, limits: ApiLimits) {
    this.#deps = deps;
    this.#limits = limits;
    const catalogue = new ToolCatalogue(deps.registry);
    const { alerts, budget, fleet, registry } = deps;
    this.#agentDeps = { alerts, budget, catalogue, fleet, registry };
    this.#notifications = new ListingNotifications({
      feed: deps.feed,
      catalogue,
      logger: deps.logger,
      everyMs: limits.agentNotificationMs,
    });
    this.#keyCheck = setInterval(() => void this.#endRevoked(), limits.keyCheckMs).unref();
    this.#stopListening = deps.feed.subscribe('access', () => void this.#endRevoked());
  }

  /** In a separate Fastify scope, because the SDK reads the bodies. */
  mount(server: FastifyInstance): void {
    void server.register((scope, _options, done) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null));
      scope.setErrorHandler((error, _request, reply) => this.#refuse(reply, error));
      scope.route({
        method: ['GET', 'POST', 'DELETE'],
        url: '/mcp',
        exposeHeadRoute: false,
        handler: (request, reply) => this.#answer(request, reply),
      });
      scope.options('/mcp', ({ raw }, reply) => {
        answerPreflight(raw, reply.raw, this.#deps.publicUrl);
        return reply.code(204).send();
      });
      done();
    });
  }

  async close(): Promise<void> {
    clearInterval(this.#keyCheck);
    this.#stopListening();
    this.#notifications.close();
    for (const response of this.#open.keys()) response.destroy();
    await Promise.all([...this.#handlers.values()].map((handler) => handler.close()));
  }

  async #answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { headers, raw } = request;
    admitPage(raw, reply.raw, this.#deps.publicUrl);
    const viewer = await this.#deps.agents.ofRequest(raw);
    const mode = modeOf(request.url);
    if (this.#open.size >= this.#limits.agentRequestsMax)
      throw new ApiError(
        'UNAVAILABLE',
        `This process answers at most ${this.#limits.agentRequestsMax} requests of agents at a time; try again later.`,
      );
    await this.#deps.budget.spend(viewer, this.#limits.requestCost);
    // The client disconnected meanwhile: `close` was emitted, and does not come again.
    if (reply.raw.destroyed) return reply.hijack();
    const auth: AuthInfo = { token: '', clientId: principalRef(viewer), scopes: [...viewer.scopes] };
    this.#callers.set(auth, {
      viewer,
      view: viewOf(this.#deps.registry, viewer),
      remoteAddress: this.#deps.clientOf(raw).address,
      mode,
      trace: traceOf(headers),
    });
    reply.hijack();
    this.#open.set(reply.raw, { key: bearerKey(headers.authorization) ?? '', request: raw });
    reply.raw.once('close', () => this.#open.delete(reply.raw));
    const handle = toNodeHandler(
      { fetch: (asked, options) => this.#fetch(asked, options, audienceOf({ viewer, mode })) },
      { maxRequestBodySize: this.#limits.requestBytesMax, onerror: (error) => this.#fault(error) },
    );
    await handle(Object.assign(raw, { auth, method: request.method, url: request.url }), reply.raw);
    return reply;
  }

  /**
   * The previous revision sends notifications on a GET stream, which the stateless SDK does not
   * have.
   */
  async #fetch(request: Request, options: McpHandlerRequestOptions | undefined, audience: Audience): Promise<Response> {
    const caller = this.#callerOf(options?.authInfo);
    if (request.method === 'GET') return this.#openNotificationStream(request, caller, audience);
    const body = await textOf(request);
    const scopes = scopesToAskFor(caller.viewer, body);
    if (scopes !== undefined) return this.#askForScopes(scopes);
    const tooMany = await this.#payForBatch(caller, body);
    if (tooMany !== undefined) return tooMany;
    return this.#handlerFor(audience).fetch(request, options);
  }

  async #openNotificationStream(request: Request, caller: AgentCaller, audience: Audience): Promise<Response> {
    const transport = new WebStandardStreamableHTTPServerTransport({ keepAliveMs: this.#limits.agentKeepAliveMs });
    const server = this.#serverFor(caller);
    await server.connect(transport);
    const response = await transport.handleRequest(request);
    if (!response.ok) {
      await server.close();
      return response;
    }
    const unsubscribe = this.#notifications.subscribe(audience, async () => {
      await server.sendToolListChanged();
      await server.sendResourceListChanged();
    });
    const end = () => {
      unsubscribe();
      void server.close();
    };
    // No I/O is awaited between the check of `destroyed` and here, so a GET is not aborted yet.
    request.signal.addEventListener('abort', end);
    return opened(response);
  }

  /** The request itself has paid for one message. */
  async #payForBatch({ viewer }: AgentCaller, body: string): Promise<Response | undefined> {
    const others = messageCount(body) - 1;
    if (others <= 0) return undefined;
    try {
      await this.#deps.budget.spend(viewer, others * this.#limits.requestCost);
      return undefined;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { code, message, statusCode } = error;
      return Response.json({ code, message }, { status: statusCode, headers: waitHeaders(error) });
    }
  }

  #askForScopes(scopes: readonly Scope[]): Response {
    const { addresses } = this.#deps.agents;
    const headers = addresses === undefined ? {} : { 'www-authenticate': scopeChallenge(addresses, scopes) };
    const message = `This agent needs the scopes ${scopes.join(', ')}. Ask the person to connect it again.`;
    return Response.json({ code: 'FORBIDDEN', message }, { status: 403, headers });
  }

  #handlerFor(audience: Audience): McpHttpHandler {
    const key = keyOfAudience(audience);
    const handler = this.#handlers.get(key) ?? this.#makeHandler(audience);
    this.#handlers.set(key, handler);
    return handler;
  }

  #makeHandler(audience: Audience): McpHttpHandler {
    return createMcpHandler(({ authInfo }) => this.#serverFor(this.#callerOf(authInfo)), {
      legacy: 'stateless',
      bus: this.#busOf(audience),
      maxRequestBodySize: this.#limits.requestBytesMax,
      maxSubscriptions: this.#limits.agentRequestsMax,
      keepAliveMs: this.#limits.agentKeepAliveMs,
      onerror: (error) => this.#deps.logger.debug({ err: error }, 'an agent sent what MCP does not allow'),
    });
  }

  /** What the streams of the SDK listen to. Without a stream, the hub does not read the fleet. */
  #busOf(audience: Audience): ServerEventBus {
    return {
      publish: () => undefined,
      subscribe: (listener) =>
        this.#notifications.subscribe(audience, async () => {
          listener({ kind: 'tools_list_changed' });
          listener({ kind: 'resources_list_changed' });
        }),
    };
  }

  #serverFor(caller: AgentCaller): Server {
    return makeRequestServer(this.#agentDeps, caller, (error) => this.#fault(error));
  }

  #callerOf(authInfo: AuthInfo | undefined): AgentCaller {
    const caller = authInfo && this.#callers.get(authInfo);
    if (caller === undefined) throw new TypeError('A request reached the MCP server without its key.');
    return caller;
  }

  /** A key or token that is revoked or has expired ends its streams. Calls may run on. */
  async #endRevoked(): Promise<void> {
    for (const check of ['watched', 'running'] as const) {
      const open = () => [...this.#open].filter(([, request]) => checkOf(request) === check);
      for (const key of new Set(open().map(([, request]) => request.key))) {
        // While PostgreSQL is unavailable, streams stay open.
        const isValid = await this.#deps.agents.isValid(key, check).catch(() => true);
        if (!isValid) for (const [response, request] of open()) if (request.key === key) response.destroy();
      }
    }
  }

  #refuse(reply: FastifyReply, error: unknown): FastifyReply {
    const refusal =
      error instanceof ApiError
        ? error
        : new ApiError('UNAVAILABLE', 'The hub cannot check keys now; try again later.', error);
    if (refusal.code === 'UNAUTHENTICATED' || refusal instanceof TokenRefused)
      void reply.header('www-authenticate', challengeOf(refusal, this.#deps.agents.addresses));
    return sendRefusal(reply, refusal);
  }

  #fault(error: unknown): void {
    this.#deps.logger.error({ err: error }, "an agent's request failed inside");
  }
}

/** A request that still arrives could become a call after its token has expired. */
function checkOf({ request: { method, complete } }: OpenRequest): OpenCheck {
  return method === 'POST' && complete ? 'running' : 'watched';
}

/** The body, which can be read again. Empty where it is too large: the SDK refuses it. */
function textOf(request: Request): Promise<string> {
  return request
    .clone()
    .text()
    .catch(() => '');
}

/** Of a batch of JSON-RPC, which old revisions of MCP allow; otherwise 1. */
function messageCount(body: string): number {
  if (!/^\s*\[/.test(body)) return 1;
  try {
    const messages: unknown = JSON.parse(body);
    return Array.isArray(messages) ? messages.length : 1;
  } catch {
    return 1;
  }
}

/** Sends a comment at once, because Node sends no head before the first bytes of a body. */
function opened({ body, status, headers }: Response): Response {
  const comment = new TextEncoder().encode(': open\n\n');
  const stream = new TransformStream<Uint8Array, Uint8Array>({ start: (beginning) => beginning.enqueue(comment) });
  return new Response(body === null ? null : body.pipeThrough(stream), { status, headers });
}

function modeOf(url: string): ListingMode {
  const asked = new URLSearchParams(url.split('?')[1] ?? '').get('mode') ?? 'auto';
  const mode = modes.find((known) => known === asked);
  if (mode === undefined) throw new ApiError('BAD_USER_INPUT', `"mode" is ${modes.join(', ')}; leave it out for auto.`);
  return mode;
}
