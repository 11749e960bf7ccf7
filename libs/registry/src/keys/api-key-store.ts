import type { AuditSource } from '../audit-store.js';
import type { DeviceFilter } from '../device-filter.js';
import type { Principal, Scope } from '../registry.js';

/** An API key as lists show it: never its secret. Times are ms since the Unix epoch. */
export interface ApiKeyRow {
  readonly id: string;
  readonly name: string;
  /** First characters of the secret, to recognise it by. */
  readonly prefix: string;
  readonly scopes: readonly Scope[];
  /** What narrows it; undefined: the whole fleet. */
  readonly devices: DeviceFilter | undefined;
  readonly createdAt: number;
  /** The name of whoever made it; undefined for the first one. */
  readonly createdBy: string | undefined;
  /** The person at the start of the chain of creators (`principalRef`); undefined: the key stands for itself. */
  readonly ownerId?: string | undefined;
  readonly expiresAt: number | undefined;
  /** Exact to the minute. */
  readonly lastUsedAt: number | undefined;
  readonly revokedAt: number | undefined;
}

export type NewApiKey = Pick<ApiKeyRow, 'name' | 'scopes' | 'devices' | 'expiresAt'>;

export type ApiKeyAnswer =
  | { readonly kind: 'created'; readonly key: ApiKeyRow; /** Once. */ readonly secret: string }
  /** There are `keysMax` keys that still work. */
  | { readonly kind: 'FULL' }
  /** PostgreSQL cannot answer the device filter. */
  | { readonly kind: 'FILTER_INVALID' };

export type RevocationAnswer =
  | { readonly kind: 'revoked'; readonly key: ApiKeyRow }
  | { readonly kind: 'NOT_FOUND' }
  /** Without this key nobody could make another. */
  | { readonly kind: 'LAST_ADMIN' };

export interface KeyCreation {
  readonly keysMax: number;
  readonly at: number;
  readonly by: AuditSource;
  /** The owner of the new key (`principalRef`). */
  readonly ownerId?: string | undefined;
}

/** Acts of people are given `by`, and are recorded in the audit trail in their own transaction. */
export interface ApiKeyStore {
  /** Looks the key up by its SHA-256, and remembers the answer for seconds; undefined for unknown, revoked or expired keys. */
  authenticate(secret: string): Promise<Principal | undefined>;
  /** What is remembered of keys is looked up again: another process has revoked one. */
  forget(): void;
  /**
   * Makes the first admin key if there is no key at all; resolves to its secret, or undefined when there are keys. `given` is used instead of a random one.
   * `keep` stores a random one before it counts: where it rejects, there is no key.
   */
  ensureAdminKey(given: string | undefined, keep?: (secret: string) => Promise<void>): Promise<string | undefined>;
  /** Keys that are over make room for it: those first that were over first. */
  create(key: NewApiKey, how: KeyCreation): Promise<ApiKeyAnswer>;
  /** All of them, the newest first. */
  all(): Promise<readonly ApiKeyRow[]>;
  /** At once in this process. Revoking again changes nothing. */
  revoke(id: string, how: { readonly at: number; readonly by: AuditSource }): Promise<RevocationAnswer>;
}
