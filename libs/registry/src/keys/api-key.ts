/** API keys as callers of the store see them, and as rows of the table. */
import { z } from 'zod';
import type { AuditSource } from '../audit/audit-entry.js';
import type { PlainRow } from '../database/plain-row.js';
import { plainRow } from '../database/plain-row.js';
import type { DeviceFilter } from '../device-filter.js';
import type { ApiKey } from '../generated/prisma/client.js';
import type { Scope } from '../registry.js';

export const SCOPES = [
  'DEVICES_READ',
  'DEVICES_WRITE',
  'TOOLS_CALL',
  'TOOLS_CALL_PRIVILEGED',
  'JOBS_READ',
  'JOBS_WRITE',
  'FIRMWARE_WRITE',
  'EVENTS_READ',
  'ADMIN',
] as const;
const scopesOf = z.array(z.enum(SCOPES)).readonly();

/** An API key as lists show it, without its secret. Times are ms since the Unix epoch. */
export interface ApiKeyRow {
  readonly id: string;
  readonly name: string;
  /** The first characters of the secret, by which a person recognises it. */
  readonly prefix: string;
  readonly scopes: readonly Scope[];
  /** The devices that the key can see; undefined: the whole fleet. */
  readonly devices: DeviceFilter | undefined;
  readonly createdAt: number;
  /** The name of the creator; undefined for the first key. */
  readonly createdBy: string | undefined;
  /**
   * The person at the start of the chain of creators (`principalRef`); undefined: the key itself.
   */
  readonly ownerId?: string | undefined;
  readonly expiresAt: number | undefined;
  /** Exact to the minute. */
  readonly lastUsedAt: number | undefined;
  readonly revokedAt: number | undefined;
}

export type NewApiKey = Pick<ApiKeyRow, 'name' | 'scopes' | 'devices' | 'expiresAt'>;

export type ApiKeyAnswer =
  | { readonly kind: 'created'; readonly key: ApiKeyRow; /** Returned only here. */ readonly secret: string }
  /** There are `keysMax` valid keys. */
  | { readonly kind: 'FULL' }
  /** PostgreSQL cannot evaluate the device filter. */
  | { readonly kind: 'FILTER_INVALID' };

export type RevocationAnswer =
  | { readonly kind: 'revoked'; readonly key: ApiKeyRow }
  | { readonly kind: 'NOT_FOUND' }
  /** Without this key no one could create another. */
  | { readonly kind: 'LAST_ADMIN' };

export interface KeyCreation {
  readonly keysMax: number;
  readonly at: number;
  readonly by: AuditSource;
  /** The owner of the new key (`principalRef`). */
  readonly ownerId?: string | undefined;
}

/** A row of the table without the hash of its secret. */
export type ApiKeyRecord = Omit<ApiKey, 'secretHash'>;

export function toApiKey(record: ApiKeyRecord): ApiKeyRow {
  const { devices, scopes, ...row }: PlainRow<ApiKeyRecord> = plainRow(record);
  return { ...row, scopes: scopesOf.parse(scopes), devices: (devices ?? undefined) as DeviceFilter | undefined };
}
