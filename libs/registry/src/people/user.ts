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
  | 'TOO_MANY'
  /** No user would be left who can change users. */
  | 'LAST_ADMIN';

export type UserAnswer = { readonly user: UserRow } | { readonly refused: UserRefusal };

export interface Asked {
  readonly at: number;
  /** Without it no caller asked, and nothing is recorded. */
  readonly by?: AuditSource | undefined;
}

/** The columns that no UserRow has. */
export const OMITTED = { passwordHash: true, oidcIssuer: true, oidcSubject: true } as const;

export function toUser(record: Omit<UserAccount, keyof typeof OMITTED>): UserRow {
  return plainRow(record);
}
