/** Creates and revokes API keys inside a transaction that holds the lock of keys. */
import { v7 } from 'uuid';
import type { Queryable, Transaction } from '../database/database.js';
import { storableJson, storableText } from '../database/json-rows.js';
import { Prisma } from '../generated/prisma/client.js';
import { hashOf, newSecret } from '../secrets/secrets.js';
import { toApiKey } from './api-key.js';
import type { ApiKeyRow, NewApiKey, RevocationAnswer } from './api-key.js';

const PREFIX_CHARACTERS = 8;

/** Bounds the number of keys, and lets hubs that start together create one admin key. */
const KEYS_LOCK = { text: 'SELECT pg_advisory_xact_lock(4607182419)' };

/**
 * Removes expired and revoked keys, the earliest first, until there is room for one more. A revoked
 * key of the settings has no creator and stays: the next start would make it again.
 */
const MAKE_ROOM = {
  text: `WITH ends AS (SELECT id, created_by, least(revoked_at, expires_at) AS over_at FROM api_key),
           dropped AS (DELETE FROM api_key k USING (
             SELECT id FROM ends
             WHERE over_at <= to_timestamp($2::float8 / 1000) AND created_by IS NOT NULL ORDER BY over_at
             LIMIT greatest(0, (SELECT count(*) FROM ends) + 1 - $1)) d WHERE k.id = d.id)
         SELECT count(*)::int AS living FROM ends
         WHERE over_at IS NULL OR over_at > to_timestamp($2::float8 / 1000)`,
};

export async function lockKeys(transaction: Queryable): Promise<void> {
  await transaction.query(KEYS_LOCK, []);
}

interface KeyToInsert extends NewApiKey {
  readonly createdBy: string | undefined;
  readonly ownerId: string | undefined;
  readonly at: number;
}

export function newKey(): string {
  return `flt_${newSecret()}`;
}

/** The row of a new key with this secret. */
export function rowOf(secret: string, key: KeyToInsert): Prisma.ApiKeyCreateManyInput {
  const { name, scopes, devices, createdBy, ownerId, expiresAt, at } = key;
  return {
    id: v7({ msecs: at }),
    name: storableText(name),
    prefix: secret.slice(0, PREFIX_CHARACTERS),
    secretHash: hashOf(secret),
    scopes: [...new Set(scopes)],
    devices: devices === undefined ? Prisma.DbNull : storableJson(devices),
    createdBy: createdBy ?? null,
    ownerId: ownerId ?? null,
    createdAt: new Date(at),
    expiresAt: expiresAt === undefined ? null : new Date(expiresAt),
  };
}

/** False where `keysMax` keys are valid. */
export async function makeRoom(transaction: Queryable, keysMax: number, at: number): Promise<boolean> {
  const [row] = await transaction.query<{ readonly living: number }>(MAKE_ROOM, [keysMax, at]);
  return (row?.living ?? 0) < keysMax;
}

/** `key` is there where this call revoked it. */
export async function revokeKey(
  transaction: Transaction,
  id: string,
  at: number,
): Promise<{ readonly answer: RevocationAnswer; readonly key?: ApiKeyRow }> {
  return transaction.ask(async (prisma) => {
    const found = await prisma.apiKey.findUnique({ where: { id }, omit: { secretHash: true } });
    if (found === null) return { answer: { kind: 'NOT_FOUND' } };
    if (found.revokedAt !== null) return { answer: { kind: 'revoked', key: toApiKey(found) } };
    const isValidAdmin = found.scopes.includes('ADMIN') && (found.expiresAt === null || found.expiresAt.getTime() > at);
    if (isValidAdmin && !(await hasOtherAdmin(prisma, id))) return { answer: { kind: 'LAST_ADMIN' } };
    const data = { revokedAt: new Date(at) };
    const key = toApiKey(await prisma.apiKey.update({ where: { id }, data, omit: { secretHash: true } }));
    return { answer: { kind: 'revoked', key }, key };
  });
}

/** Whether another principal can create keys: a permanent key that sees the fleet, or a person. */
async function hasOtherAdmin(prisma: Prisma.TransactionClient, id: string): Promise<boolean> {
  const isAdmin = { scopes: { has: 'ADMIN' }, revokedAt: null, expiresAt: null, devices: { equals: Prisma.DbNull } };
  const keys = await prisma.apiKey.count({ where: { ...isAdmin, id: { not: id } } });
  return keys > 0 || (await prisma.userAccount.count({ where: { role: 'ADMIN', disabledAt: null } })) > 0;
}
