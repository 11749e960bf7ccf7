/** Rows of API keys, and the statements that make and end them inside somebody's transaction. */
import { z } from 'zod';
import type { Queryable } from '../database/database.js';
import { storableText, toJson } from '../database/json-rows.js';
import { bind } from '../database/sql-parameters.js';
import type { DeviceFilter } from '../device-filter.js';
import { deviceCondition } from '../devices/device-condition.js';
import { groundFilter } from '../groups/ground-filter.js';
import { RegistryError } from '../registry-error.js';
import type { ApiKeyRow, NewApiKey, RevocationAnswer } from './api-key-store.js';

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

export interface ApiKeyRecord {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly scopes: readonly string[];
  readonly devices: DeviceFilter | null;
  readonly created_at: Date;
  readonly created_by: string | null;
  readonly owner_id: string | null;
  readonly expires_at: Date | null;
  readonly last_used_at: Date | null;
  readonly revoked_at: Date | null;
}

export const KEY_COLUMNS =
  'id, name, prefix, scopes, devices, created_at, created_by, owner_id, expires_at, last_used_at, revoked_at';

export function toApiKey(record: ApiKeyRecord): ApiKeyRow {
  const { id, name, prefix, scopes, devices, created_by: createdBy } = record;
  return {
    ...{
      id,
      name,
      prefix,
      scopes: scopesOf.parse(scopes),
      devices: devices ?? undefined,
      createdBy: createdBy ?? undefined,
    },
    ownerId: record.owner_id ?? undefined,
    createdAt: record.created_at.getTime(),
    expiresAt: record.expires_at?.getTime(),
    lastUsedAt: record.last_used_at?.getTime(),
    revokedAt: record.revoked_at?.getTime(),
  };
}

interface KeyToInsert extends NewApiKey {
  readonly id: string;
  readonly prefix: string;
  readonly hash: string;
  readonly createdBy: string | undefined;
  readonly ownerId: string | undefined;
  readonly at: number;
}

/** Nothing where the secret is there already. */
export function insertKey(transaction: Queryable, key: KeyToInsert): Promise<readonly ApiKeyRecord[]> {
  const { id, name, prefix, hash, scopes, devices, createdBy, ownerId, expiresAt, at } = key;
  return transaction.query<ApiKeyRecord>(
    {
      text: `INSERT INTO api_key (id, name, prefix, secret_hash, scopes, devices, created_by, expires_at, created_at, owner_id)
             VALUES ($1, $2, $3, $4, $5, $6::jsonb, $7, to_timestamp($8::float8 / 1000), to_timestamp($9::float8 / 1000), $10)
             ON CONFLICT (secret_hash) DO NOTHING RETURNING ${KEY_COLUMNS}`,
    },
    [
      ...[id, storableText(name), prefix, hash, [...new Set(scopes)], devices === undefined ? null : toJson(devices)],
      ...[createdBy, expiresAt, at, ownerId],
    ],
  );
}

/** Drops keys that are over until there is room for one more, those first that were over first. False where too many still work. */
export async function makeRoom(transaction: Queryable, keysMax: number, at: number): Promise<boolean> {
  const [row] = await transaction.query<{ readonly living: number }>(
    {
      text: `WITH ends AS (SELECT id, least(revoked_at, expires_at) AS over_at FROM api_key),
               dropped AS (DELETE FROM api_key k USING (
                 SELECT id FROM ends WHERE over_at <= to_timestamp($2::float8 / 1000) ORDER BY over_at
                 LIMIT greatest(0, (SELECT count(*) FROM ends) + 1 - $1)) d WHERE k.id = d.id)
             SELECT count(*)::int AS living FROM ends WHERE over_at IS NULL OR over_at > to_timestamp($2::float8 / 1000)`,
    },
    [keysMax, at],
  );
  return (row?.living ?? 0) < keysMax;
}

/** Whether somebody else could make keys: another key that lasts and is not narrowed, or a person. */
const HAS_OTHER_ADMIN = `EXISTS (SELECT FROM api_key o WHERE o.id <> k.id AND 'ADMIN' = ANY (o.scopes) AND o.revoked_at IS NULL AND o.expires_at IS NULL AND o.devices IS NULL)
  OR EXISTS (SELECT FROM user_account u WHERE u.role = 'ADMIN' AND u.disabled_at IS NULL)`;

/** `key` as it was found, or as it is now. */
export async function revokeKey(
  transaction: Queryable,
  id: string,
  at: number,
): Promise<{ readonly answer: RevocationAnswer; readonly key?: ApiKeyRow }> {
  const [found] = await transaction.query<ApiKeyRecord & { readonly is_last_admin: boolean }>(
    {
      text: `SELECT ${KEY_COLUMNS}, ('ADMIN' = ANY (k.scopes) AND (k.expires_at IS NULL OR k.expires_at > to_timestamp($2::float8 / 1000))
               AND NOT (${HAS_OTHER_ADMIN})) AS is_last_admin
             FROM api_key k WHERE k.id = $1`,
    },
    [id, at],
  );
  if (found === undefined) return { answer: { kind: 'NOT_FOUND' } };
  if (found.revoked_at !== null) return { answer: { kind: 'revoked', key: toApiKey(found) } };
  if (found.is_last_admin) return { answer: { kind: 'LAST_ADMIN' } };
  const [revoked] = await transaction.query<ApiKeyRecord>(
    { text: `UPDATE api_key SET revoked_at = to_timestamp($2::float8 / 1000) WHERE id = $1 RETURNING ${KEY_COLUMNS}` },
    [id, at],
  );
  const key = toApiKey(revoked ?? found);
  return { answer: { kind: 'revoked', key }, key };
}

/** By asking: whether PostgreSQL can say who matches. */
export async function canAnswer(db: Queryable, devices: DeviceFilter): Promise<boolean> {
  const parameters: unknown[] = [];
  const condition = deviceCondition(await groundFilter(db, devices), parameters);
  try {
    await db.query({ text: `SELECT FROM device d WHERE ${condition} LIMIT ${bind(parameters, 1)}` }, parameters);
    return true;
  } catch (error) {
    if (error instanceof RegistryError && error.code === 'DATABASE_REFUSED') return false;
    throw error;
  }
}
