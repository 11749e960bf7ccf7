/**
 * The routes by which agents connect to `/mcp` over OAuth 2.1. They need no key. The library
 * answers most of them, and is loaded at the first request.
 */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { agentScopes, usualAgentScopes, type AgentGrants } from '@flotilla/fleet';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { KeyFailures } from '../access/key-failures.js';
import { requestFaultOf, sendError } from '../errors/send-refusal.js';
import type { Callers } from '../sign-in/callers.js';
import { registrationOf } from './client-metadata.js';
import { ConsentEndpoints } from './consent-endpoints.js';
import { openIdDocument, resourceDocument, serverDocument } from './oauth-metadata.js';
import { discoveryPaths, oauthPaths, type OauthAddresses } from './oauth-settings.js';
import { openProvider, type OpenProvider, type ProviderDeps } from './open-provider.js';

interface OauthRoutesDeps extends ProviderDeps {
  readonly grants: Pick<AgentGrants, 'allow' | 'end' | 'limits' | 'scopesOf'>;
  readonly callers: Pick<Callers, 'ofRequest'>;
}

/** A registration or a decision. */
const BODY_BYTES_MAX = 16 * 1024;
/** A body that takes longer is not sent by a client, ms. */
const BODY_MS_MAX = 15_000;
/** Authorization requests of one network in a minute; each is a row for some minutes. */
const REQUESTS_MAX = 60;
/** Tokens for one network in a minute: hosted agents share few addresses. */
const TOKENS_MAX = 1_200;
const WINDOW_MS = 60_000;

export function serveOauth(server: FastifyInstance, deps: OauthRoutesDeps): void {
  const endpoints = new OauthEndpoints(deps);
  void server.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    // The library reads the bodies of its routes.
    scope.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null));
    scope.setErrorHandler((error, _request, reply) => sendFailure(reply, error));
    serveDocuments(scope, deps.addresses);
    const { authorization, token, revocation, jwks } = oauthPaths;
    scope.get(authorization, (request, reply) => endpoints.authorize(request, reply));
    scope.get(`${authorization}/:uid`, (request, reply) => endpoints.resume(request, reply));
    scope.get(jwks, (request, reply) => endpoints.pass(request, reply));
    for (const url of [token, revocation]) {
      scope.post(url, (request, reply) => endpoints.exchange(request, reply));
      scope.options(url, (request, reply) => endpoints.pass(request, reply));
    }
    done();
  });
  void server.register((scope, _options, done) => {
    scope.removeContentTypeParser('text/plain');
    scope.setErrorHandler((error, _request, reply) => sendFailure(reply, error));
    scope.addHook('onRequest', async (_request, reply) => void reply.header('cache-control', 'no-store'));
    const { registration, consent } = oauthPaths;
    const bounds = { bodyLimit: BODY_BYTES_MAX };
    scope.post(registration, bounds, (request, reply) => endpoints.register(request, reply));
    scope.options(registration, (_request, reply) => openToPages(reply, 'POST').code(204).send());
    const consents = new ConsentEndpoints({ ...deps, opened: () => endpoints.opened() });
    scope.get<{ Params: { uid: string } }>(`${consent}/:uid/request`, (request, reply) =>
      consents.show(request, reply),
    );
    scope.post<{ Params: { uid: string } }>(`${consent}/:uid`, bounds, (request, reply) =>
      consents.decide(request, reply),
    );
    done();
  });
}

/** The reason for an agent that looks for the authorization server of a hub without one. */
export function refuseDiscovery(server: FastifyInstance, isOff: boolean): void {
  const reason = isOff
    ? 'FLOTILLA_OAUTH is off on this hub.'
    : 'The hub needs FLOTILLA_PUBLIC_URL for OAuth, with its https address.';
  const message = `${reason} An agent can connect with an API key instead.`;
  for (const url of Object.values(discoveryPaths))
    server.get(url, (_request, reply) => openToPages(reply, 'GET').code(404).send({ code: 'NOT_FOUND', message }));
}

function serveDocuments(scope: FastifyInstance, addresses: OauthAddresses): void {
  const resource = resourceDocument(addresses);
  const documents = {
    [discoveryPaths.resource]: resource,
    [discoveryPaths.resourceOfPath]: resource,
    [discoveryPaths.server]: serverDocument(addresses),
    [discoveryPaths.openId]: openIdDocument(addresses),
  };
  for (const [url, document] of Object.entries(documents)) {
    scope.get(url, (_request, reply) =>
      openToPages(reply, 'GET').header('cache-control', 'max-age=300').send(document),
    );
    scope.options(url, (_request, reply) => openToPages(reply, 'GET').code(204).send());
  }
}

class OauthEndpoints {
  readonly #registrations: KeyFailures;
  readonly #requests = new KeyFailures({ failuresMax: REQUESTS_MAX, windowMs: WINDOW_MS });
  readonly #tokens = new KeyFailures({ failuresMax: TOKENS_MAX, windowMs: WINDOW_MS });
  #provider: Promise<OpenProvider> | undefined;

  constructor(private readonly deps: OauthRoutesDeps) {
    const { registrationsMax, registrationWindowMs } = deps.grants.limits;
    this.#registrations = new KeyFailures({ failuresMax: registrationsMax, windowMs: registrationWindowMs });
  }

  /** An unsuccessful start is repeated at the next request. */
  opened(): Promise<OpenProvider> {
    this.#provider ??= openProvider(this.deps).catch((error: unknown) => {
      this.#provider = undefined;
      throw error;
    });
    return this.#provider;
  }

  /** The scopes that the hub knows; the usual ones where the client names none of them. */
  async authorize(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const refusal = this.#tooMany(this.#requests, request, reply);
    if (refusal !== undefined) return refusal;
    return this.pass(request, reply, withKnownScopes(request.raw.url ?? ''));
  }

  /** The parameters are those of the request that the person decided about. */
  async resume(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    return this.pass(request, reply, (request.raw.url ?? '').split('?', 1)[0]);
  }

  async exchange(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    return this.#tooMany(this.#tokens, request, reply) ?? this.pass(request, reply);
  }

  /** Hands the request to the library. */
  async pass({ raw }: FastifyRequest, reply: FastifyReply, url?: string): Promise<FastifyReply> {
    const { provider } = await this.opened();
    const { issuer } = this.deps.addresses;
    if (url !== undefined) raw.url = url;
    // The library makes addresses and cookies by these headers; no client or proxy chooses them.
    const { protocol, host } = new URL(issuer);
    Object.assign(raw.headers, { 'x-forwarded-proto': protocol.slice(0, -1), 'x-forwarded-host': host });
    reply.hijack();
    const slow = setTimeout(() => raw.complete || raw.destroy(), BODY_MS_MAX);
    reply.raw.once('close', () => clearTimeout(slow));
    secure(reply.raw);
    await provider.callback()(raw, reply.raw);
    return reply;
  }

  /** [RFC 7591 §3] */
  async register(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    openToPages(reply, 'POST');
    const refusal = this.#tooMany(this.#registrations, request, reply);
    if (refusal !== undefined) return refusal;
    const registration = registrationOf(request.body);
    if ('problem' in registration) return refuse(reply, registration.error, registration.problem);
    const { registry, grants, clientOf, now } = this.deps;
    const { provider, library } = await this.opened();
    const at = now();
    const client_id = randomUUID();
    const issued = { ...registration.metadata, client_id, client_id_issued_at: Math.floor(at / 1_000) };
    try {
      // The rules of the library, so that it accepts the client later.
      new provider.Client(issued);
    } catch (error) {
      if (!(error instanceof library.errors.OIDCProviderError)) throw error;
      return refuse(reply, error.error, error.error_description ?? 'the metadata is not valid');
    }
    const { clientsMax, idleClientMs } = grants.limits;
    const isKept = await registry.oauth.register(
      { id: client_id, metadata: issued, remoteAddress: clientOf(request.raw).address },
      { clientsMax, idleMs: idleClientMs, at },
    );
    if (!isKept)
      return refuse(reply, 'temporarily_unavailable', 'too many clients are registered; try again later', 503);
    return reply.code(201).send(issued);
  }

  #tooMany(limits: KeyFailures, { raw }: FastifyRequest, reply: FastifyReply): FastifyReply | undefined {
    const waitMs = limits.count(this.deps.clientOf(raw).address);
    if (waitMs === undefined) return undefined;
    void reply.header('retry-after', Math.ceil(waitMs / 1_000));
    return refuse(reply, 'temporarily_unavailable', 'too many requests from this address; try again later', 429);
  }
}

function withKnownScopes(url: string): string {
  const parsed = new URL(url, 'http://localhost');
  const asked = parsed.searchParams.getAll('scope');
  // The library refuses parameters that come twice.
  if (asked.length > 1) return url;
  const named = (asked[0] ?? '').split(' ');
  const known = agentScopes.filter((scope) => named.includes(scope));
  parsed.searchParams.set('scope', (known.length > 0 ? known : usualAgentScopes).join(' '));
  return `${parsed.pathname}${parsed.search}`;
}

function secure(response: ServerResponse): void {
  response.setHeader('x-content-type-options', 'nosniff');
  response.setHeader('referrer-policy', 'no-referrer');
  response.setHeader('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
}

/** Pages of any origin may read it: it needs no cookie and shows no secret. */
function openToPages(reply: FastifyReply, methods: string): FastifyReply {
  return reply
    .header('access-control-allow-origin', '*')
    .header('access-control-allow-methods', methods)
    .header('access-control-allow-headers', 'content-type, mcp-protocol-version')
    .header('x-content-type-options', 'nosniff');
}

function refuse(reply: FastifyReply, error: string, problem: string, status = 400): FastifyReply {
  return reply.code(status).send({ error, error_description: problem });
}

function sendFailure(reply: FastifyReply, error: unknown): FastifyReply {
  const fault = requestFaultOf(error);
  return fault ? refuse(reply, 'invalid_request', fault.message, fault.status) : sendError(reply, error);
}
