/**
 * Creates and changes accounts of people, and passwords. Each change affects open sessions: here at
 * once, in other processes on notification.
 */
import { randomBytes } from 'node:crypto';
import type { UserAnswer, UserRefusal, UserRow, UserSession } from '@flotilla/registry';
import { sourceOf } from '../actor.js';
import type { Actor } from '../actor.js';
import { refuse } from '../refusal.js';
import type { Refusal, RefusalCode } from '../refusal.js';
import { lockedUntil } from './lock-out.js';
import { passwordProblem } from './passwords.js';
import type { SignInLimits } from './sign-in-limits.js';
import { publishAccess, type SignInsDeps } from './sign-ins.js';
import { refuseUser } from './user-rules.js';
import type { UserRequest } from './user-rules.js';

type PeopleDeps = Omit<SignInsDeps, 'logger'>;

export type SavedUser = { readonly user: UserRow } | { readonly refusal: Refusal };

/** Without a password one is made. */
interface FirstAdmin {
  readonly email: string;
  readonly password: string | undefined;
}

/** 144 bits: long enough for any rule, short enough to type once. */
const MADE_PASSWORD_BYTES = 18;

export class People {
  constructor(private readonly deps: PeopleDeps) {}

  async createUser(request: UserRequest, actor: Actor): Promise<SavedUser> {
    const { registry, clock, limits } = this.deps;
    const wrong = refuseUser(request) ?? refuseWithoutEmail(request);
    if (wrong) return { refusal: wrong };
    if (request.disabled) return { refusal: refuse('INVALID', ['input', 'disabled'], 'A new user is not disabled.') };
    const { name, role, password, email } = request;
    if (name === undefined) return { refusal: refuse('INVALID', ['input', 'name'], 'A new user needs a name.') };
    if (role === undefined) return { refusal: refuse('INVALID', ['input', 'role'], 'A new user needs a role.') };
    const passwordHash = password === undefined ? undefined : await this.deps.passwords.hash(password);
    if (password !== undefined && passwordHash === undefined) return { refusal: busy(['input', 'password']) };
    const user = { name: name.trim(), email: email ?? undefined, role, passwordHash };
    return saved(
      await registry.users.create(user, { at: clock.now(), by: sourceOf(actor), usersMax: limits.usersMax }),
      limits,
    );
  }

  /** Disabling and a new password end all sessions of the user. */
  async updateUser(id: string, request: UserRequest, actor: Actor): Promise<SavedUser> {
    const { registry, bus, clock, limits } = this.deps;
    const wrong = refuseUser(request);
    if (wrong) return { refusal: wrong };
    const { password, ...change } = request;
    const passwordHash = password === undefined ? undefined : await this.deps.passwords.hash(password);
    if (password !== undefined && passwordHash === undefined) return { refusal: busy(['input', 'password']) };
    const at = clock.now();
    const answer = await registry.users.update(id, { ...change, passwordHash }, { at, by: sourceOf(actor) });
    publishAccess(bus, id);
    return saved(answer, limits);
  }

  /**
   * Ends all other sessions of the user. Wrong passwords cause a wait, so an open browser cannot
   * guess.
   */
  async changePassword(
    { id, user }: UserSession,
    { current, next }: { readonly current: string; readonly next: string },
    actor: Actor,
  ): Promise<SavedUser> {
    const { registry, bus, clock, limits, passwords } = this.deps;
    const problem = passwordProblem(next);
    if (problem !== undefined) return { refusal: refuse('INVALID', ['new'], problem) };
    const subject = `browser:${id}`;
    const judge = (each: string, run: Parameters<typeof lockedUntil>[1]) => lockedUntil(each, run, limits);
    const attempt = await registry.signInFailures.begin([subject], clock.now(), judge, limits.forgottenMs);
    if ('lockedUntil' in attempt)
      return { refusal: refuse('LIMIT_EXCEEDED', ['current'], 'Too many wrong passwords: try again later.') };
    const former = await registry.users.passwordHashOf(user.id);
    const isRight = await passwords.verify(former, current);
    if (isRight === false) {
      const refused = { action: 'user.password_change_refused', subject: `user:${user.id}`, data: {} };
      await registry.audit.record({ ...sourceOf(actor), ...refused, at: clock.now() });
      return { refusal: refuse('INVALID', ['current'], 'This is not the present password.') };
    }
    await registry.signInFailures.succeeded(
      attempt,
      isRight ? { ended: [subject], spared: [] } : { ended: [], spared: [subject] },
    );
    if (isRight === undefined || former === undefined) return { refusal: busy(['current']) };
    const hashed = await passwords.hash(next);
    if (hashed === undefined) return { refusal: busy(['new']) };
    const isChanged = await registry.users.setOwnPassword(
      { userId: user.id, sessionId: id, former, next: hashed },
      { at: clock.now(), by: sourceOf(actor) },
    );
    publishAccess(bus, user.id);
    if (isChanged) return { user };
    return {
      refusal: refuse('CONFLICT', ['current'], 'Your password or session was changed meanwhile: sign in again.'),
    };
  }

  /** Ends all sessions of a user. The user can sign in again. */
  async signOutEverywhere(
    userId: string,
    actor: Actor,
  ): Promise<{ readonly user: UserRow; readonly endedSessions: number } | { readonly refusal: Refusal }> {
    const { registry, bus, clock, limits } = this.deps;
    const user = await registry.users.find(userId);
    if (user === undefined) return { refusal: refuse('NOT_FOUND', ['id'], refusals.NOT_FOUND[2](limits)) };
    const endedSessions = await registry.userSessions.endAll(user.id, { at: clock.now(), by: sourceOf(actor) });
    publishAccess(bus, user.id);
    return { user, endedSessions };
  }

  /** Deletes the account. All sessions of the user end. */
  async deleteUser(id: string, actor: Actor): Promise<SavedUser> {
    const { registry, bus, clock, limits } = this.deps;
    const answer = await registry.users.remove(id, { at: clock.now(), by: sourceOf(actor) });
    publishAccess(bus, id);
    if ('refused' in answer && answer.refused === 'LAST_ADMIN')
      return { refusal: refuse('CONFLICT', ['id'], refusals.LAST_ADMIN[2](limits)) };
    return saved(answer, limits);
  }

  /**
   * Creates the first administrator if there is no account. If `keep` cannot store a generated
   * password, no account is created.
   */
  async ensureFirstAdmin(given: FirstAdmin, keep: (password: string) => Promise<void>): Promise<void> {
    const { registry, clock, passwords } = this.deps;
    if (!(await registry.users.isEmpty())) return;
    const password = given.password ?? randomBytes(MADE_PASSWORD_BYTES).toString('base64url');
    const first = {
      name: 'Admin',
      email: given.email,
      role: 'ADMIN',
      passwordHash: await passwords.hash(password),
    } as const;
    await registry.users.createFirst(
      first,
      clock.now(),
      given.password === undefined ? () => keep(password) : undefined,
    );
  }
}

function refuseWithoutEmail({ email }: UserRequest): Refusal | undefined {
  return email
    ? undefined
    : refuse('INVALID', ['input', 'email'], 'A new user needs an e-mail address: people sign in with it.');
}

function busy(path: readonly string[]): Refusal {
  return refuse('OVERLOADED', path, 'Too many passwords are being checked: try again in a few seconds.');
}

const refusals: Readonly<
  Record<UserRefusal, readonly [RefusalCode, readonly string[], (limits: SignInLimits) => string]>
> = {
  NOT_FOUND: ['NOT_FOUND', ['id'], () => 'There is no such user.'],
  EMAIL_TAKEN: ['CONFLICT', ['input', 'email'], () => 'Another user has this e-mail address.'],
  IDENTITY_TAKEN: ['CONFLICT', ['input'], () => 'Another user is linked to this identity.'],
  TOO_MANY: ['LIMIT_EXCEEDED', ['input'], ({ usersMax }) => `There are ${usersMax} users already, which is the most.`],
  LAST_ADMIN: [
    'CONFLICT',
    ['input'],
    () =>
      'This is the last admin who can sign in. Another one needs an e-mail address and a password, or one sign-in ' +
      'with the provider.',
  ],
};

function saved(answer: UserAnswer, limits: SignInLimits): SavedUser {
  if ('user' in answer) return answer;
  const [code, path, message] = refusals[answer.refused];
  return { refusal: refuse(code, path, message(limits)) };
}
