/**
 * Who asks: a program by its key, or a person by the cookie of a browser that is signed in. Where something is to be changed, and for WebSockets, which no
 * other rule of browsers guards, the cookie counts only in requests of this hub's own pages.
 */
import type { IncomingMessage } from 'node:http';
import { actorName, type SignedInUser, type SignIns } from '@flotilla/fleet';
import type { ApiKeyStore, Principal } from '@flotilla/registry';
import { ApiError } from '../errors/api-error.js';
import type { ClientOf } from '../api-deps.js';
import { authenticate } from '../access/authentication.js';
import { TooManyFailuresError, type FailedAttempts } from '../access/failed-attempts.js';
import { readCookie } from './cookies.js';
import { originOf } from './same-origin.js';

export interface Caller {
  readonly viewer: Principal;
  /** Where a person asks. */
  readonly session?: SignedInUser | undefined;
}

export interface CallersDeps {
  readonly apiKeys: ApiKeyStore;
  readonly signIns: Pick<SignIns, 'whoIs'>;
  /** The origin under which browsers reach this hub, where it is not the one that they ask at. */
  readonly publicUrl: string | undefined;
  /** The browser reaches this hub by HTTPS. */
  readonly isSecure: (request: IncomingMessage) => boolean;
  readonly clientOf: ClientOf;
  readonly failures: FailedAttempts;
}

export class Callers {
  readonly #deps: CallersDeps;

  constructor(deps: CallersDeps) {
    this.#deps = deps;
  }

  /**
   * A key goes before a cookie. Throws UNAUTHENTICATED, and FORBIDDEN for a cookie that another site's page sent. Failures of an address are counted,
   * and RATE_LIMITED beyond their limit.
   */
  async ofRequest(request: IncomingMessage, isChange: boolean): Promise<Caller> {
    const { headers } = request;
    const token = headers.authorization === undefined ? this.tokenIn(request) : undefined;
    if (token === undefined) return this.ofKeyIn(request);
    if (isChange && originOf(headers, this.#deps.publicUrl) !== 'same')
      throw new ApiError(
        'FORBIDDEN',
        "Only pages of this hub may change something with a browser's session; programs use an API key.",
      );
    return this.counted(this.#deps.clientOf(request).address, () => this.ofToken(token));
  }

  /** As `ofRequest`, but a cookie does not count. */
  ofKeyIn(request: IncomingMessage): Promise<Caller> {
    const { authorization } = request.headers;
    // Without a key nothing is guessed, and browsers ask like this before somebody signs in.
    if (authorization === undefined) return this.ofKey(authorization);
    return this.counted(this.#deps.clientOf(request).address, () => this.ofKey(authorization));
  }

  /** Counts UNAUTHENTICATED as a failure of the address, and throws TooManyFailuresError instead beyond the limit. */
  async counted(address: string | undefined, look: () => Promise<Caller>): Promise<Caller> {
    try {
      return await look();
    } catch (error) {
      const isFailure = error instanceof ApiError && error.code === 'UNAUTHENTICATED';
      const waitMs = isFailure ? this.#deps.failures.count(address) : undefined;
      throw waitMs === undefined ? error : new TooManyFailuresError(waitMs);
    }
  }

  async ofKey(authorization: unknown): Promise<Caller> {
    return { viewer: await authenticate(this.#deps.apiKeys, authorization) };
  }

  /** `watched`: a look at a session that something is open for, which does not keep it from idling out. */
  async ofToken(token: string, watched?: 'watched'): Promise<Caller> {
    const session = await this.#deps.signIns.whoIs(token, watched);
    if (session === undefined) throw new ApiError('UNAUTHENTICATED', 'You are not signed in, or no longer.');
    const { user, scopes } = session;
    return { viewer: { kind: 'USER', id: user.id, name: actorName(user), scopes }, session };
  }

  /** The cookie of an upgrade to WebSocket; none where the page is another site's, or unknown. */
  tokenOfUpgrade(request: IncomingMessage): string | undefined {
    return originOf(request.headers, this.#deps.publicUrl) === 'same' ? this.tokenIn(request) : undefined;
  }

  tokenIn(request: IncomingMessage): string | undefined {
    return readCookie(request.headers, 'flotilla-session', this.#deps.isSecure(request));
  }
}
