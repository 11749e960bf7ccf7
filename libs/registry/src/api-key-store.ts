/** API keys: random secrets that only their holders know; PostgreSQL has their SHA-256. Knows who a key is, not what a scope means. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { v7 } from 'uuid';
import { z } from 'zod';
import type { Database } from './database/database.js';
import { BoundedCache } from './devices/bounded-cache.js';
import type { ApiKey } from './generated/prisma/client.js';
import { RegistryError } from './registry-error.js';
import type { RegistryLogger } from './registry-logger.js';
import type { ApiKeyStore, Principal } from './registry.js';

const SCOPES = [
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
const scopes = z.array(z.enum(SCOPES)).readonly();

/** A revoked key works this much longer at most. */
const REMEMBERED_MS = 5_000;
/** Unknown secrets are remembered too, so that a client that hammers with one does not reach PostgreSQL. */
const REMEMBERED_MAX = 1_000;
/** "Last used" is exact to this. */
const LAST_USED_STEP_MS = 60_000;
const ADMIN_KEY_CHARACTERS_MIN = 32;
/** Longer ones are nobody's, and would only cost hashing. */
const SECRET_CHARACTERS_MAX = 512;
const PREFIX_CHARACTERS = 8;
/** Two hubs that start at once on an empty database make one admin key. */
const ADMIN_KEY_LOCK = 4_607_182_419;

export class PgApiKeyStore implements ApiKeyStore {
  readonly #database: Database;
  readonly #logger: RegistryLogger;
  readonly #remembered = new BoundedCache<string, { readonly principal: Principal | undefined; readonly until: number }>(REMEMBERED_MAX);

  constructor(database: Database, logger: RegistryLogger) {
    this.#database = database;
    this.#logger = logger;
  }

  async authenticate(secret: string): Promise<Principal | undefined> {
    if (secret.length === 0 || secret.length > SECRET_CHARACTERS_MAX) return undefined;
    const hash = hashOf(secret);
    const now = Date.now();
    const remembered = this.#remembered.get(hash);
    if (remembered !== undefined && now < remembered.until) return remembered.principal;
    const key = await this.#database.ask((prisma) => prisma.apiKey.findUnique({ where: { secretHash: hash } }));
    const principal =
      key !== null && isValid(key, hash, now)
        ? { kind: 'KEY' as const, id: key.id, name: key.name, scopes: scopes.parse(key.scopes) }
        : undefined;
    this.#remembered.set(hash, { principal, until: Math.min(now + REMEMBERED_MS, key?.expiresAt?.getTime() ?? Infinity) });
    if (principal !== undefined && now - (key?.lastUsedAt?.getTime() ?? 0) >= LAST_USED_STEP_MS) this.#noteUse(principal.id, now);
    return principal;
  }

  async ensureAdminKey(given: string | undefined): Promise<string | undefined> {
    if (given !== undefined && (given.length < ADMIN_KEY_CHARACTERS_MIN || given.length > SECRET_CHARACTERS_MAX)) {
      throw new RegistryError(
        'ARGUMENT_INVALID',
        `An admin key has ${String(ADMIN_KEY_CHARACTERS_MIN)} to ${String(SECRET_CHARACTERS_MAX)} characters; the given one has ${String(given.length)}.`,
      );
    }
    return this.#database.transaction(async (transaction) => {
      await transaction.query({ text: 'SELECT pg_advisory_xact_lock($1)' }, [ADMIN_KEY_LOCK]);
      const isFirst = (await transaction.query({ text: 'SELECT FROM api_key LIMIT 1' }, [])).length === 0;
      if (!isFirst && given === undefined) return undefined;
      const secret = given ?? `flt_${randomBytes(32).toString('base64url')}`;
      await transaction.query(
        {
          text: `INSERT INTO api_key (id, name, prefix, secret_hash, scopes) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (secret_hash) DO NOTHING`,
        },
        [v7(), 'admin', secret.slice(0, PREFIX_CHARACTERS), hashOf(secret), [...SCOPES]],
      );
      return isFirst ? secret : undefined;
    });
  }

  #noteUse(keyId: string, now: number): void {
    this.#database
      .ask((prisma) => prisma.apiKey.updateMany({ where: { id: keyId }, data: { lastUsedAt: new Date(now) } }))
      .catch((error: unknown) => {
        this.#logger.warn({ keyId, err: error }, 'the last use of an API key was not noted');
      });
  }
}

function isValid(key: ApiKey, hash: string, now: number): boolean {
  const isEqual = timingSafeEqual(Buffer.from(key.secretHash), Buffer.from(hash));
  return isEqual && key.revokedAt === null && (key.expiresAt === null || key.expiresAt.getTime() > now);
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
