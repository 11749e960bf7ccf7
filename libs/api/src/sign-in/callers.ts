/**
 * Finds the caller of a request: a program by its key, or a person by the cookie of a signed-in
 * browser. For changes and WebSockets the cookie counts only in requests from pages of this hub.
 */
import type { IncomingMessage } from 'node:http';
import { actorName, type SignedInUser, type SignIns } from '@flotilla/fleet';
import type { ApiKeys, Principal } from '@flotilla/registry';
import { ApiError } from '../errors/api-error.js';
import type { ClientOf } from '../api-deps.js';
import { authenticate } from '../access/authentication.js';
import { TooManyFailuresError, type KeyFailures } from '../access/key-failures.js';
import { readCookie } from './cookies.js';
import { originOf } from './same-origin.js';

export interface Caller {
  readonly viewer: Principal;
  /** Where a person asks. */
  readonly session?: SignedInUser | undefined;
}

interface CallersDeps {
  readonly apiKeys: ApiKeys;
  readonly signIns: Pick<SignIns, 'whoIs'>;
  /** The origin under which browsers reach this hub, where it is not the one that they ask at. */
  readonly publicUrl: string | undefined;
  /** The browser reaches this hub by HTTPS. */
  readonly isSecure: (request: IncomingMessage) => boolean;
  readonly clientOf: ClientOf;
  readonly failures: KeyFailures;
}

export class Callers {
  constructor(private readonly deps: CallersDeps) {}

  /**
   * A key takes precedence over a cookie. Throws UNAUTHENTICATED, FORBIDDEN for a cookie from
   * another site, and RATE_LIMITED after too many failures. `watched` as for `ofToken`.
   */
  async ofRequest(request: IncomingMessage, isChange: boolean, watched?: 'watched'): Promise<Caller> {
    const { headers } = request;
    const token = headers.authorization === undefined ? this.tokenIn(request) : undefined;
    if (token === undefined) return this.ofKeyIn(request);
    if (isChange && originOf(headers, this.deps.publicUrl) !== 'same')
      throw new ApiError(
        'FORBIDDEN',
        "Only pages of this hub may change something with a browser's session; programs use an API key.",
      );
    return this.counted(this.deps.clientOf(request).address, () => this.ofToken(token, watched));
  }

  /** As `ofRequest`, but a cookie does not count. */
  ofKeyIn(request: IncomingMessage): Promise<Caller> {
    const { authorization } = request.headers;
    // A request without a key is not a guess: browsers send it before sign-in.
    if (authorization === undefined) return this.ofKey(authorization);
    return this.counted(this.deps.clientOf(request).address, () => this.ofKey(authorization));
  }

  /**
   * Counts UNAUTHENTICATED as a failure of the address; beyond the limit throws
   * TooManyFailuresError.
   */
  async counted(address: string | undefined, look: () => Promise<Caller>): Promise<Caller> {
    try {
      return await look();
    } catch (error) {
      const isFailure = error instanceof ApiError && error.code === 'UNAUTHENTICATED';
      const waitMs = isFailure ? this.deps.failures.count(address) : undefined;
      throw waitMs === undefined ? error : new TooManyFailuresError(waitMs);
    }
  }

  async ofKey(authorization: unknown): Promise<Caller> {
    return { viewer: await authenticate(this.deps.apiKeys, authorization) };
  }

  /** `watched` checks a session on behalf of an open connection, which is not activity. */
  async ofToken(token: string, watched?: 'watched'): Promise<Caller> {
    const session = await this.deps.signIns.whoIs(token, watched);
    if (session === undefined) throw new ApiError('UNAUTHENTICATED', 'You are not signed in. Sign in again.');
    const { user, scopes } = session;
    return { viewer: { kind: 'USER', id: user.id, name: actorName(user), scopes }, session };
  }

  /** The cookie of an upgrade to WebSocket; none where the page is another site's, or unknown. */
  tokenOfUpgrade(request: IncomingMessage): string | undefined {
    return originOf(request.headers, this.deps.publicUrl) === 'same' ? this.tokenIn(request) : undefined;
  }

  tokenIn(request: IncomingMessage): string | undefined {
    return readCookie(request.headers, 'flotilla-session', this.deps.isSecure(request));
  }
}
