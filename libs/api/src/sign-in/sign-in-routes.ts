/**
 * The routes of `/api/sign-in` and sign-out. They need no key, and show strangers only which ways
 * of sign-in exist.
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Browser, OpenedSession, People, SignedInUser, SignIns } from '@flotilla/fleet';
import { actorOf } from '../api-context.js';
import type { ClientOf } from '../api-deps.js';
import { ApiError } from '../errors/api-error.js';
import { refuseUnfitInput } from '../limits/input-bounds.js';
import { requestFaultOf, sendError } from '../errors/send-refusal.js';
import type { Callers } from './callers.js';
import { cookieText, expiredCookie, readCookie } from './cookies.js';
import type { OidcSignIn } from './oidc-sign-in.js';
import { addAttempt, takeAttempt } from './pending-attempts.js';
import { originOf } from './same-origin.js';

type OidcRoutes = Pick<OidcSignIn, 'label' | 'pendingSeconds' | 'begin' | 'finish'>;

interface SignInRoutesDeps {
  readonly callers: Callers;
  readonly signIns: Pick<SignIns, 'withPassword' | 'withOidc' | 'formerOf' | 'signOut' | 'browserKnownMs'>;
  readonly people: Pick<People, 'signOutEverywhere'>;
  /** Undefined: no identity provider is configured. */
  readonly oidc: OidcRoutes | undefined;
  readonly publicUrl: string | undefined;
  /** The browser reaches this hub by HTTPS. */
  readonly isSecure: (request: IncomingMessage) => boolean;
  readonly clientOf: ClientOf;
  readonly now: () => number;
}

/**
 * Bytes of a body: an e-mail address and a password of maximum length, in the longest JSON form.
 */
const BODY_BYTES_MAX = 4_096;

export function serveSignIn(server: FastifyInstance, deps: SignInRoutesDeps): void {
  void server.register((scope, _options, done) => {
    // JSON alone: a form of another site's page could send the others without asking.
    scope.removeContentTypeParser('text/plain');
    scope.setErrorHandler((error, _request, reply) => sendFailure(reply, error));
    scope.addHook('onRequest', async (_request, reply) => void reply.header('cache-control', 'no-store'));
    const endpoints = new SignInEndpoints(deps);
    scope.get('/api/sign-in', async () => endpoints.methods());
    scope.post('/api/sign-in', { bodyLimit: BODY_BYTES_MAX }, (request, reply) => endpoints.signIn(request, reply));
    scope.post('/api/sign-out', { bodyLimit: BODY_BYTES_MAX }, (request, reply) => endpoints.signOut(request, reply));
    scope.post('/api/sign-out-everywhere', { bodyLimit: BODY_BYTES_MAX }, (request, reply) =>
      endpoints.signOutEverywhere(request, reply),
    );
    scope.get('/api/sign-in/oidc', (request, reply) => endpoints.toProvider(request, reply));
    scope.get('/api/sign-in/oidc/callback', (request, reply) => endpoints.fromProvider(request, reply));
    done();
  });
}

class SignInEndpoints {
  constructor(private readonly deps: SignInRoutesDeps) {}

  methods() {
    const { oidc } = this.deps;
    return { password: true, oidc: oidc === undefined ? null : { label: oidc.label, url: '/api/sign-in/oidc' } };
  }

  async signIn(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    this.#refuseForeign(request);
    const answer = await this.deps.signIns.withPassword(credentialsIn(request.body), this.#browserOf(request));
    switch (answer.kind) {
      case 'signed-in':
        await this.#replace(request, reply, answer);
        return reply.send({ viewer: { name: answer.user.name, scopes: answer.scopes } });
      case 'refused':
        throw new ApiError('UNAUTHENTICATED', 'Wrong e-mail or password.');
      case 'locked':
        void reply.header('retry-after', Math.ceil(answer.retryAfterMs / 1_000));
        throw new ApiError('RATE_LIMITED', 'Too many failed attempts. Try again later.');
      case 'busy':
        void reply.header('retry-after', 5);
        throw new ApiError('UNAVAILABLE', 'Too many people are signing in. Try again in a few seconds.');
    }
  }

  async signOut(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const session = await this.#sessionOf(request, reply);
    await this.deps.signIns.signOut(session, this.#addressOf(request));
    return reply.code(204).send();
  }

  async signOutEverywhere(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { user } = await this.#sessionOf(request, reply);
    const { viewer } = await this.deps.callers.ofRequest(request.raw, true);
    const actor = actorOf({ viewer, remoteAddress: this.#addressOf(request) });
    const answer = await this.deps.people.signOutEverywhere(user.id, actor);
    // A user who was deleted meanwhile has no sessions left.
    return reply.send({ sessions: 'refusal' in answer ? 0 : answer.endedSessions });
  }

  async toProvider(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { oidc } = this.deps;
    if (oidc === undefined) throw noProvider();
    const isSecure = this.deps.isSecure(request.raw);
    const { url, attempt } = await oidc.begin(this.#originIn(request));
    const pending = addAttempt(readCookie(request.headers, 'flotilla-oidc', isSecure), attempt);
    return reply.header('set-cookie', pendingCookie(pending, oidc, isSecure)).redirect(url, 302);
  }

  /**
   * Redirects to the page of the hub, with `?sign-in=refused` or `failed` after an unsuccessful
   * sign-in.
   */
  async fromProvider(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { oidc, signIns } = this.deps;
    if (oidc === undefined) throw noProvider();
    const isSecure = this.deps.isSecure(request.raw);
    const callback = new URL(request.url, this.#originIn(request));
    const pending = readCookie(request.headers, 'flotilla-oidc', isSecure);
    const { attempt, rest } = takeAttempt(pending, callback.searchParams.get('state'));
    void reply.header('set-cookie', pendingCookie(rest, oidc, isSecure));
    const person = await oidc.finish(callback, attempt);
    if (person === 'failed') return reply.redirect('/?sign-in=failed', 302);
    const answer = person === 'refused' ? undefined : await signIns.withOidc(person, this.#browserOf(request));
    if (answer?.kind !== 'signed-in') return reply.redirect('/?sign-in=refused', 302);
    await this.#replace(request, reply, answer);
    return reply.redirect('/', 302);
  }

  /** A session that the browser had before ends: no token outlives a sign-in. */
  async #replace(request: FastifyRequest, reply: FastifyReply, opened: OpenedSession): Promise<void> {
    const { now, signIns } = this.deps;
    const isSecure = this.deps.isSecure(request.raw);
    const former = await this.#formerOf(request);
    if (former) await signIns.signOut(former, this.#addressOf(request));
    const maxAgeSeconds = Math.floor((opened.expiresAt - now()) / 1_000);
    void reply.header('set-cookie', cookieText('flotilla-session', opened.token, { isSecure, maxAgeSeconds }));
    const knownSeconds = Math.floor(signIns.browserKnownMs / 1_000);
    void reply.header(
      'set-cookie',
      cookieText('flotilla-browser', opened.id, { isSecure, maxAgeSeconds: knownSeconds, sameSite: 'Lax' }),
    );
  }

  /**
   * On the way back from a provider, a browser sends no session, but the id of its latest one. The
   * new session is there already, so a read that fails must not fail the sign-in.
   */
  async #formerOf(request: FastifyRequest) {
    const { callers, signIns } = this.deps;
    const token = callers.tokenIn(request.raw);
    if (token === undefined) return signIns.formerOf(this.#browserOf(request)).catch(() => undefined);
    return (await callers.ofToken(token).catch(() => undefined))?.session;
  }

  /** Also removes an invalid cookie, but not for a page of another site. */
  async #sessionOf({ raw }: FastifyRequest, reply: FastifyReply): Promise<SignedInUser> {
    const { callers } = this.deps;
    const isSecure = this.deps.isSecure(raw);
    try {
      const { session } = await callers.ofRequest(raw, true);
      if (session === undefined)
        throw new ApiError('BAD_USER_INPUT', 'An API key is not signed in. Use revokeApiKey to end it.');
      void reply.header('set-cookie', expiredCookie('flotilla-session', isSecure));
      return session;
    } catch (error) {
      if (error instanceof ApiError && error.code === 'UNAUTHENTICATED' && callers.tokenIn(raw) !== undefined)
        void reply.header('set-cookie', expiredCookie('flotilla-session', isSecure));
      throw error;
    }
  }

  /** Programs, which say nothing of origins, may sign in. */
  #refuseForeign({ headers }: FastifyRequest): void {
    if (originOf(headers, this.deps.publicUrl) === 'foreign')
      throw new ApiError('FORBIDDEN', 'Only pages of this hub may sign in.');
  }

  #addressOf({ raw }: FastifyRequest): string | undefined {
    return this.deps.clientOf(raw).address;
  }

  #browserOf(request: FastifyRequest): Browser {
    const { headers, raw } = request;
    const formerSession = readCookie(headers, 'flotilla-browser', this.deps.isSecure(raw));
    return { remoteAddress: this.#addressOf(request), userAgent: headers['user-agent'], formerSession };
  }

  #originIn({ headers, raw }: FastifyRequest): string {
    const { publicUrl, isSecure } = this.deps;
    return publicUrl === undefined
      ? `${isSecure(raw) ? 'https' : 'http'}://${headers.host ?? 'localhost'}`
      : new URL(publicUrl).origin;
  }
}

/** Lax: the provider's page leads back here. */
function pendingCookie(attempts: string, { pendingSeconds }: OidcRoutes, isSecure: boolean): string {
  if (attempts === '') return expiredCookie('flotilla-oidc', isSecure);
  return cookieText('flotilla-oidc', attempts, { isSecure, maxAgeSeconds: pendingSeconds, sameSite: 'Lax' });
}

function credentialsIn(body: unknown): { readonly email: string; readonly password: string } {
  const { email, password }: { readonly email?: unknown; readonly password?: unknown } =
    typeof body === 'object' && body !== null ? body : {};
  if (typeof email !== 'string' || typeof password !== 'string')
    throw new ApiError('BAD_USER_INPUT', 'Send JSON: {"email": "…", "password": "…"}.');
  refuseUnfitInput({ email, password });
  return { email, password };
}

function noProvider(): ApiError {
  return new ApiError('NOT_FOUND', 'No identity provider is configured here.');
}

/** Errors of Fastify about a body keep their status. */
function sendFailure(reply: FastifyReply, error: unknown): FastifyReply {
  const fault = requestFaultOf(error);
  if (fault === undefined) return sendError(reply, error);
  return reply.code(fault.status).send({ code: 'BAD_USER_INPUT', message: fault.message });
}
