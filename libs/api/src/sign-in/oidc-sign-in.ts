/**
 * Sign-in by OpenID Connect: authorization code with PKCE, state and nonce. A cookie holds the
 * attempts, so any process can finish them. An unavailable provider blocks no other sign-in; the
 * next attempt looks for it again.
 */
import * as oidc from 'openid-client';
import type { OidcPerson } from '@flotilla/fleet';
import type { Role } from '@flotilla/registry';
import type { ApiLogger } from '../api-logger.js';
import { ApiError } from '../errors/api-error.js';
import type { Attempt } from './pending-attempts.js';

export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  /** What the button of the sign-in page says. */
  readonly label: string;
  /**
   * The claim with the groups or roles of a person, a string or a list. Undefined: roles are set
   * here.
   */
  readonly roleClaim: string | undefined;
  /** By value of the claim; of several the highest. */
  readonly roles: ReadonlyMap<string, Role>;
  /** The role of people without one; undefined: they cannot sign in. */
  readonly defaultRole: Role | undefined;
}

/** A person may look for the password of the provider that long, s. */
const PENDING_SECONDS = 600;
/** A provider answers by then, s. */
const TIMEOUT_SECONDS = 10;
/** From the narrowest. */
const ranks: readonly Role[] = ['VIEWER', 'OPERATOR', 'FIRMWARE', 'ADMIN'];
const NAME_CHARACTERS_MAX = 100;

export class OidcSignIn {
  readonly pendingSeconds = PENDING_SECONDS;
  readonly label: string;
  readonly #settings: OidcSettings;
  readonly #logger: ApiLogger;
  #provider: Promise<oidc.Configuration> | undefined;

  constructor(settings: OidcSettings, logger: ApiLogger) {
    this.#settings = settings;
    this.#logger = logger;
    this.label = settings.label;
    // Logs a wrong setting at the start.
    this.#discovered().catch(() => undefined);
  }

  /** Where to send the browser, and what it keeps meanwhile. Throws UNAVAILABLE. */
  async begin(origin: string): Promise<{ readonly url: string; readonly attempt: Attempt }> {
    const provider = await this.#discovered();
    const [state, nonce, verifier] = [oidc.randomState(), oidc.randomNonce(), oidc.randomPKCECodeVerifier()];
    const url = oidc.buildAuthorizationUrl(provider, {
      redirect_uri: redirectUri(origin),
      scope: 'openid profile email',
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    });
    return { url: url.href, attempt: { state, nonce, verifier } };
  }

  /**
   * `failed`: the protocol was violated, and the log has details. `refused`: the person may not
   * sign in.
   */
  async finish(callback: URL, attempt: Attempt | undefined): Promise<OidcPerson | 'failed' | 'refused'> {
    if (attempt === undefined) {
      this.#logger.warn(
        {},
        'a sign-in by the identity provider failed: this browser did not begin it, or too long ago',
      );
      return 'failed';
    }
    const { state, nonce, verifier } = attempt;
    try {
      return await this.#personOf(callback, { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier });
    } catch (error) {
      this.#logger.warn({ err: error }, 'a sign-in by the identity provider failed');
      return 'failed';
    }
  }

  async #personOf(callback: URL, checks: oidc.AuthorizationCodeGrantChecks): Promise<OidcPerson | 'refused'> {
    const provider = await this.#discovered();
    const tokens = await oidc.authorizationCodeGrant(provider, callback, { ...checks, idTokenExpected: true });
    const claims = tokens.claims();
    if (claims === undefined) return 'refused';
    // Many providers report the address and groups there alone.
    const info = provider.serverMetadata().userinfo_endpoint
      ? await oidc.fetchUserInfo(provider, tokens.access_token, claims.sub)
      : {};
    return this.#judge(claims.iss, claims.sub, { ...info, ...claims });
  }

  #judge(issuer: string, subject: string, claims: Readonly<Record<string, unknown>>): OidcPerson | 'refused' {
    const { roleClaim, roles, defaultRole } = this.#settings;
    const role = roleClaim === undefined ? undefined : (highest(claims[roleClaim], roles) ?? defaultRole);
    if (roleClaim !== undefined && role === undefined) return 'refused';
    const { email, email_verified: isVerified, name } = claims;
    return {
      identity: { issuer, subject },
      name: (typeof name === 'string' && name !== '' ? name : typeof email === 'string' ? email : subject).slice(
        0,
        NAME_CHARACTERS_MAX,
      ),
      verifiedEmail: typeof email === 'string' && isVerified === true ? email.toLowerCase() : undefined,
      role,
      newRole: role ?? defaultRole,
    };
  }

  #discovered(): Promise<oidc.Configuration> {
    this.#provider ??= this.#discover();
    return this.#provider;
  }

  async #discover(): Promise<oidc.Configuration> {
    const { issuer, clientId, clientSecret } = this.#settings;
    const url = new URL(issuer);
    const auth = clientSecret === undefined ? oidc.None() : oidc.ClientSecretBasic(clientSecret);
    try {
      // The settings allow http on loopback alone.
      const execute = url.protocol === 'http:' ? [oidc.allowInsecureRequests] : [];
      return await oidc.discovery(url, clientId, {}, auth, { execute, timeout: TIMEOUT_SECONDS });
    } catch (error) {
      this.#provider = undefined;
      this.#logger.error({ err: error, issuer }, 'the identity provider was not found; the next sign-in looks again');
      throw new ApiError(
        'UNAVAILABLE',
        'The identity provider does not answer: try again later, or sign in with a password.',
        error,
      );
    }
  }
}

function redirectUri(origin: string): string {
  return `${origin}/api/sign-in/oidc/callback`;
}

function highest(claim: unknown, roles: ReadonlyMap<string, Role>): Role | undefined {
  const values: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  const named = values.flatMap((value) => (typeof value === 'string' ? (roles.get(value) ?? []) : []));
  return ranks.findLast((role) => named.includes(role));
}
