/** People who sign in: their accounts, the browsers that are signed in, and attempts that failed. What a role may do and what a password is, others know. */
import type { AuditSource } from '../audit/audit-entry.js';

export type Role = 'VIEWER' | 'OPERATOR' | 'FIRMWARE' | 'ADMIN';

export interface UserRow {
  readonly id: string;
  readonly name: string;
  /** In lower case; nobody else has it. */
  readonly email: string | undefined;
  readonly role: Role;
  readonly createdAt: number;
  readonly lastSignInAt: number | undefined;
  readonly disabledAt: number | undefined;
}

/** Who somebody is to an OpenID Connect provider. */
export interface OidcIdentity {
  readonly issuer: string;
  readonly subject: string;
}

export interface NewUser {
  readonly name: string;
  readonly email: string | undefined;
  readonly role: Role;
  /** In the PHC string format. */
  readonly passwordHash?: string | undefined;
  readonly oidc?: OidcIdentity | undefined;
}

/** What is undefined stays. */
export interface UserChange {
  readonly name?: string | undefined;
  /** Null: no address any more. */
  readonly email?: string | null | undefined;
  readonly role?: Role | undefined;
  /** Ends all sessions. */
  readonly passwordHash?: string | undefined;
  /** True ends all sessions. */
  readonly disabled?: boolean | undefined;
}

export type UserRefusal =
  | 'NOT_FOUND'
  | 'EMAIL_TAKEN'
  | 'TOO_MANY'
  /** Nobody would be left who may change users. */
  | 'LAST_ADMIN';

export type UserAnswer = { readonly user: UserRow } | { readonly refused: UserRefusal };

export interface Asked {
  readonly at: number;
  /** Without it nobody asked, and nothing is recorded. */
  readonly by?: AuditSource | undefined;
}

export interface UserStore {
  /** By e-mail address, those without one last. */
  all(): Promise<readonly UserRow[]>;
  find(id: string): Promise<UserRow | undefined>;
  /** `email` in any case. */
  findByEmail(
    email: string,
  ): Promise<{ readonly user: UserRow; readonly passwordHash: string | undefined } | undefined>;
  passwordHashOf(id: string): Promise<string | undefined>;
  findByOidc(identity: OidcIdentity): Promise<UserRow | undefined>;
  /** Ties the account to the identity. False where it is tied to another already. */
  linkOidc(id: string, identity: OidcIdentity, asked: Asked): Promise<boolean>;
  create(user: NewUser, asked: Asked & { readonly usersMax: number }): Promise<UserAnswer>;
  /** Makes the first user of an empty table, however many processes try at once; false where there is one already. Where `keep` rejects, none is made. */
  createFirst(user: NewUser, at: number, keep?: () => Promise<void>): Promise<boolean>;
  isEmpty(): Promise<boolean>;
  update(id: string, change: UserChange, asked: Asked): Promise<UserAnswer>;
  /** The own password, by a browser that stays signed in while all others of the user are signed out. */
  setOwnPassword(id: string, passwordHash: string, keptSessionId: string, asked: Asked): Promise<void>;
}

export interface NewUserSession {
  readonly userId: string;
  readonly expiresAt: number;
  readonly remoteAddress: string | undefined;
  readonly userAgent: string | undefined;
  /** How the user proved who they are, for the audit trail. */
  readonly way: 'password' | 'oidc';
  /** What the password was checked against. */
  readonly passwordHash?: string | undefined;
  /** Sessions of one user; those unused longest end. */
  readonly sessionsMax: number;
  /** Ended sessions are forgotten after so long, ms: until then they tell a browser that is known. */
  readonly keptMs: number;
}

export interface UserSession {
  readonly id: string;
  readonly user: UserRow;
}

export interface UserSessionStore {
  /**
   * Resolves to the token, which is nowhere else, and the id. Undefined where the user was disabled or got another password since they proved who they are: no
   * session outlives a change that it raced.
   */
  open(session: NewUserSession, asked: Asked): Promise<{ readonly id: string; readonly token: string } | undefined>;
  /**
   * Whose token it is: undefined for unknown, ended, expired and idle sessions and disabled users. Remembered for seconds; what this process changes shows at
   * once. `watched`: somebody only looks whether the session is still there, which is no use of it.
   */
  authenticate(token: string, idleMs: number, watched?: 'watched'): Promise<UserSession | undefined>;
  end(id: string, asked: Asked): Promise<void>;
  /** Of one user; resolves to how many there were. */
  endAll(userId: string, asked: Asked): Promise<number>;
  /** Whether this was once a session of this user, ended or not. */
  isOf(id: string, userId: string): Promise<boolean>;
  /** What is remembered of sessions is looked up again: another process has changed something. */
  forget(): void;
}

/** How often in a row something failed, and when last. */
export interface FailureRun {
  readonly failures: number;
  readonly lastAt: number;
}

export interface SignInFailureStore {
  /**
   * Counts an attempt as failed before it is made, so that attempts at once do not all see the same count. `lockedUntil` judges each subject by its run;
   * where one is locked nothing is counted, and the latest of these times is the answer.
   */
  begin(
    subjects: readonly string[],
    at: number,
    lockedUntil: (subject: string, run: FailureRun) => number | undefined,
    forgottenMs: number,
  ): Promise<number | undefined>;
  /** The attempt was a good one: the run of `ended` is over, and that of `spared` is as it was before. */
  succeeded(subjects: { readonly ended: readonly string[]; readonly spared: readonly string[] }): Promise<void>;
}
