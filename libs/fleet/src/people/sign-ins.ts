/**
 * Opens and ends sessions of people: by password, by an OpenID Connect provider, and by sign-out.
 * Knows no cookies and no HTTP.
 */
import type { Bus } from '@flotilla/bus';
import { principalRef } from '@flotilla/registry';
import type {
  AuditSource,
  NewUserSession,
  OidcIdentity,
  Registry,
  Role,
  Scope,
  UserRow,
  UserSession,
} from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import type { FleetLogger } from '../fleet-logger.js';
import { lockedUntil, subjectsOf } from './lock-out.js';
import type { Passwords } from './passwords.js';
import { roleScopes } from './role-scopes.js';
import type { SignInLimits } from './sign-in-limits.js';
import { isEmail } from './user-rules.js';

export interface SignInsDeps {
  readonly registry: Pick<Registry, 'users' | 'userSessions' | 'signInFailures' | 'audit'>;
  readonly bus: Pick<Bus, 'feed'>;
  readonly clock: Clock;
  readonly logger: FleetLogger;
  readonly passwords: Passwords;
  readonly limits: SignInLimits;
}

/** The browser of a sign-in. */
export interface Browser {
  readonly remoteAddress: string | undefined;
  readonly userAgent: string | undefined;
  /** The id of a former session in the same browser, which it keeps. */
  readonly formerSession: string | undefined;
}

export interface OpenedSession {
  readonly kind: 'signed-in';
  readonly id: string;
  /** For the cookie, and nowhere else. */
  readonly token: string;
  readonly expiresAt: number;
  readonly user: UserRow;
  readonly scopes: readonly Scope[];
}

type SignInAnswer =
  | OpenedSession
  /** Unknown user, disabled user or wrong password. The answer does not say which. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'locked'; readonly retryAfterMs: number }
  | { readonly kind: 'busy' };

/** A person, as the provider describes them. */
export interface OidcPerson {
  readonly identity: OidcIdentity;
  readonly name: string;
  /** Only where the provider says that it is verified. */
  readonly verifiedEmail: string | undefined;
  /** From the provider's claim; undefined: none of the configured roles. */
  readonly role: Role | undefined;
  /** Role of a person who has no account yet; undefined: no account is made. */
  readonly newRole: Role | undefined;
}

export interface SignedInUser extends UserSession {
  readonly scopes: readonly Scope[];
}

export class SignIns {
  constructor(private readonly deps: SignInsDeps) {}

  /** A browser is known for so long after its session ended, ms. */
  get browserKnownMs(): number {
    return this.deps.limits.browserKnownMs;
  }

  /**
   * The user of the session with the scopes of their role. `watched` does not count as activity.
   */
  async whoIs(token: string, watched?: 'watched'): Promise<SignedInUser | undefined> {
    const { registry, limits } = this.deps;
    const session = await registry.userSessions.authenticate(token, limits.idleMs, watched);
    return session && { ...session, scopes: roleScopes[session.user.role] };
  }

  async withPassword(
    given: { readonly email: string; readonly password: string },
    browser: Browser,
  ): Promise<SignInAnswer> {
    const { registry, clock, limits, passwords } = this.deps;
    const email = given.email.trim().toLowerCase();
    if (!isEmail(email)) return { kind: 'refused' };
    const found = await registry.users.findByEmail(email);
    const knownBrowser = await this.#knownBrowser(browser, found?.user);
    const { own, shared } = subjectsOf({ email, remoteAddress: browser.remoteAddress, knownBrowser });
    const now = clock.now();
    const attempt = await registry.signInFailures.begin(
      [own, ...shared],
      now,
      (subject, run) => lockedUntil(subject, run, limits),
      limits.forgottenMs,
    );
    if ('lockedUntil' in attempt) return { kind: 'locked', retryAfterMs: attempt.lockedUntil - now };
    const passwordHash = found?.user.disabledAt === undefined ? found?.passwordHash : undefined;
    const isRight = await passwords.verify(passwordHash, given.password);
    if (isRight === undefined) {
      await registry.signInFailures.succeeded(attempt, { ended: [], spared: [own, ...shared] });
      return { kind: 'busy' };
    }
    if (!isRight || found === undefined) {
      if (found) this.#recordRefusal(found.user, browser);
      return { kind: 'refused' };
    }
    await registry.signInFailures.succeeded(attempt, { ended: [own], spared: shared });
    return this.#open(found.user, { way: 'password', passwordHash }, browser);
  }

  /**
   * Finds the account by identity, then by verified e-mail address. Others get one if configured.
   */
  async withOidc(person: OidcPerson, browser: Browser): Promise<OpenedSession | { readonly kind: 'refused' }> {
    const user = await this.#userOf(person, browser);
    if (user === undefined || user.disabledAt !== undefined) return { kind: 'refused' };
    return this.#open(await this.#withRole(user, person.role, browser), { way: 'oidc' }, browser);
  }

  /** The session that the browser had before, if it has not ended. */
  async formerOf({ formerSession }: Browser): Promise<UserSession | undefined> {
    const { registry, clock, limits } = this.deps;
    return formerSession === undefined
      ? undefined
      : registry.userSessions.find(formerSession, limits.idleMs, clock.now());
  }

  async signOut({ id, user }: UserSession, remoteAddress: string | undefined): Promise<void> {
    const by = { actor: actorName(user), remoteAddress };
    await this.deps.registry.userSessions.end(id, { at: this.deps.clock.now(), by });
    publishAccess(this.deps.bus, user.id);
  }

  /** `refused`: the user was disabled, or got another password meanwhile. */
  async #open(
    user: UserRow,
    proof: Pick<NewUserSession, 'way' | 'passwordHash'>,
    { remoteAddress, userAgent }: Browser,
  ): Promise<OpenedSession | { readonly kind: 'refused' }> {
    const { registry, clock, limits } = this.deps;
    const at = clock.now();
    const expiresAt = at + limits.sessionMs;
    const session = {
      userId: user.id,
      expiresAt,
      remoteAddress,
      userAgent,
      ...proof,
      sessionsMax: limits.sessionsMax,
      keptMs: limits.browserKnownMs,
    };
    const opened = await registry.userSessions.open(session, { at, by: { actor: actorName(user), remoteAddress } });
    if (opened === undefined) return { kind: 'refused' };
    return { kind: 'signed-in', ...opened, expiresAt, user, scopes: roleScopes[user.role] };
  }

  /** Also queries for unknown users, so that the response time reveals nothing. */
  async #knownBrowser({ formerSession }: Browser, user: UserRow | undefined): Promise<string | undefined> {
    if (formerSession === undefined) return undefined;
    const isKnown = await this.deps.registry.userSessions.isOf(formerSession, user?.id ?? formerSession);
    return isKnown ? formerSession : undefined;
  }

  async #userOf(person: OidcPerson, browser: Browser): Promise<UserRow | undefined> {
    const known = () => this.deps.registry.users.findByOidc(person.identity);
    // Looks again: another first sign-in of the person may have been faster.
    return (await known()) ?? (await this.#newUserOf(person, browser)) ?? known();
  }

  /** Links the account with the verified e-mail address, or makes one. */
  async #newUserOf(
    { identity, name, verifiedEmail, newRole }: OidcPerson,
    { remoteAddress }: Browser,
  ): Promise<UserRow | undefined> {
    const { users } = this.deps.registry;
    const at = this.deps.clock.now();
    const by = { actor: verifiedEmail ?? 'hub', remoteAddress };
    const sameEmail = verifiedEmail === undefined ? undefined : (await users.findByEmail(verifiedEmail))?.user;
    if (sameEmail) return (await users.linkOidc(sameEmail.id, identity, { at, by })) ? sameEmail : undefined;
    if (newRole === undefined) return undefined;
    const made = await users.create(
      { name, email: verifiedEmail, role: newRole, oidc: identity },
      { at, by, usersMax: this.deps.limits.usersMax },
    );
    return 'user' in made ? made.user : undefined;
  }

  /** Where the provider has a say in roles it has it at each sign-in. */
  async #withRole(user: UserRow, role: Role | undefined, { remoteAddress }: Browser): Promise<UserRow> {
    if (role === undefined || role === user.role) return user;
    const by: AuditSource = { actor: 'hub', remoteAddress };
    const answer = await this.deps.registry.users.update(user.id, { role }, { at: this.deps.clock.now(), by });
    if ('user' in answer) {
      publishAccess(this.deps.bus, user.id);
      return answer.user;
    }
    this.deps.logger.warn(
      { userId: user.id, role, refused: answer.refused },
      'the role that the identity provider names was not taken over',
    );
    return user;
  }

  /** Not waited for: it would show who has an account. */
  #recordRefusal({ id }: UserRow, { remoteAddress }: Browser): void {
    const entry = {
      // eslint-disable-next-line language/plain-words -- a value of the public audit trail
      actor: 'nobody',
      remoteAddress,
      action: 'user.sign_in_refused',
      subject: `user:${id}`,
      data: {},
      at: this.deps.clock.now(),
    };
    this.deps.registry.audit.record(entry).catch((error: unknown) => {
      this.deps.logger.error({ err: error, userId: id }, 'a refused sign-in was not recorded');
    });
  }
}

/** The name of a user in records: the e-mail address is unique, and no key should look like it. */
export function actorName({ id, email }: UserRow): string {
  return email ?? `user:${id}`;
}

/** Notifies every process that holds open requests of the user to check their access again. */
export function publishAccess({ feed }: Pick<Bus, 'feed'>, userId: string): void {
  feed.publish('access', { principal: principalRef({ kind: 'USER', id: userId }) });
}
