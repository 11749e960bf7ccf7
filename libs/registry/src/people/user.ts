/** People who sign in. What a role allows and how a password is checked is not known here. */
import type { AuditSource } from '../audit/audit-entry.js';
import { plainRow } from '../database/plain-row.js';
import type { UserAccount } from '../generated/prisma/client.js';

export type Role = 'VIEWER' | 'OPERATOR' | 'FIRMWARE' | 'ADMIN';

export interface UserRow {
  readonly id: string;
  readonly name: string;
  /** In lower case, and unique. */
  readonly email: string | undefined;
  readonly role: Role;
  readonly createdAt: number;
  readonly lastSignInAt: number | undefined;
  readonly disabledAt: number | undefined;
  readonly hasPassword: boolean;
  /** The issuer of the linked identity of an OpenID Connect provider. */
  readonly identityProvider: string | undefined;
}

/** How an OpenID Connect provider identifies a person. */
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

/** Undefined members stay as they are. */
export interface UserChange {
  readonly name?: string | undefined;
  /** Null removes the address. */
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
  | 'IDENTITY_TAKEN'
  | 'TOO_MANY'
  /** No user would be left who can change users. */
  | 'LAST_ADMIN';

export type UserAnswer = { readonly user: UserRow } | { readonly refused: UserRefusal };

export interface Asked {
  readonly at: number;
  /** Without it no caller asked, and nothing is recorded. */
  readonly by?: AuditSource | undefined;
}

/** A row of the table, without the password. */
export type UserRecord = Omit<UserAccount, 'passwordHash' | 'oidcSubject'> & { readonly hasPassword: boolean };

export function toUser({ oidcIssuer, ...record }: UserRecord): UserRow {
  return plainRow({ ...record, identityProvider: oidcIssuer });
}

/** Of a whole row. The hash of the password stays behind. */
export function userOf(account: UserAccount): UserRow {
  const { id, name, email, role, createdAt, lastSignInAt, disabledAt, oidcIssuer } = account;
  const hasPassword = account.passwordHash !== null;
  return toUser({ id, name, email, role, createdAt, lastSignInAt, disabledAt, oidcIssuer, hasPassword });
}
