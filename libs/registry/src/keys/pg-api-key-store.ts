/** API keys: random secrets that only their holders know; PostgreSQL has their SHA-256. Knows who a key is, not what a scope means. */
import { v7 } from 'uuid';
import type { AuditSource } from '../audit-store.js';
import { audited } from '../audit/append-audit.js';
import { QUESTION_TIMEOUT_MS } from '../database/database.js';
import type { Database } from '../database/database.js';
import { isUuid } from '../database/uuid-v7.js';
import { BoundedCache } from '../devices/bounded-cache.js';
import { RegistryError } from '../registry-error.js';
import type { RegistryLogger } from '../registry-logger.js';
import type { Principal } from '../registry.js';
import { hashOf, isEqualHash, newSecret } from '../secrets/secrets.js';
import type { ApiKeyAnswer, ApiKeyRow, ApiKeyStore, KeyCreation, NewApiKey, RevocationAnswer } from './api-key-store.js';
import { canAnswer, insertKey, KEY_COLUMNS, makeRoom, revokeKey, SCOPES, toApiKey, type ApiKeyRecord } from './key-rows.js';

/** A key that was revoked in another process works this much longer at most, if the news of it is lost. */
const REMEMBERED_MS = 5_000;
/** Unknown secrets are remembered too, so that a client that hammers with one does not reach PostgreSQL. */
const REMEMBERED_MAX = 1_000;
/** "Last used" is exact to this. */
const LAST_USED_STEP_MS = 60_000;
const ADMIN_KEY_CHARACTERS_MIN = 32;
/** Longer ones are nobody's, and would only cost hashing. */
const SECRET_CHARACTERS_MAX = 512;
const PREFIX_CHARACTERS = 8;
/** Makers of keys take turns: their number is bounded, and two hubs that start at once on an empty database make one admin key. */
const KEYS_LOCK = { text: 'SELECT pg_advisory_xact_lock(4607182419)' };

interface Remembered {
  readonly principal: Principal | undefined;
  readonly until: number;
}

export class PgApiKeyStore implements ApiKeyStore {
  readonly #database: Database;
  readonly #logger: RegistryLogger;
  readonly #remembered = new BoundedCache<string, Remembered>(REMEMBERED_MAX);
  /** Grows with each revocation: what was read before is not remembered after it. */
  #generation = 0;

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
    const generation = this.#generation;
    const [record] = await this.#database.query<ApiKeyRecord & { readonly secret_hash: string }>(
      {
        name: 'key-by-hash',
        text: `SELECT ${KEY_COLUMNS}, secret_hash FROM api_key WHERE secret_hash = $1`,
        timeoutMs: QUESTION_TIMEOUT_MS,
      },
      [hash],
    );
    const key = record && isEqualHash(record.secret_hash, hash) ? toApiKey(record) : undefined;
    const principal = key && isValid(key, now) ? principalOf(key) : undefined;
    if (generation === this.#generation)
      this.#remembered.set(hash, { principal, until: Math.min(now + REMEMBERED_MS, key?.expiresAt ?? Infinity) });
    if (principal !== undefined && now - (key?.lastUsedAt ?? 0) >= LAST_USED_STEP_MS) this.#noteUse(principal.id, now);
    return principal;
  }

  /** All of them: revocations are rare, and keys are looked up again cheaply. */
  forget(): void {
    this.#generation += 1;
    this.#remembered.clear();
  }

  async ensureAdminKey(given: string | undefined): Promise<string | undefined> {
    if (given !== undefined && (given.length < ADMIN_KEY_CHARACTERS_MIN || given.length > SECRET_CHARACTERS_MAX)) {
      throw new RegistryError(
        'ARGUMENT_INVALID',
        `An admin key has ${String(ADMIN_KEY_CHARACTERS_MIN)} to ${String(SECRET_CHARACTERS_MAX)} characters; the given one has ${String(given.length)}.`,
      );
    }
    return this.#database.transaction(async (transaction) => {
      await transaction.query(KEYS_LOCK, []);
      const isFirst = (await transaction.query({ text: 'SELECT FROM api_key LIMIT 1' }, [])).length === 0;
      if (!isFirst && given === undefined) return undefined;
      const secret = given ?? newKey();
      await insertKey(transaction, {
        ...{ id: v7(), name: 'admin', scopes: SCOPES, prefix: prefixOf(secret), hash: hashOf(secret), at: Date.now() },
        ...{ devices: undefined, expiresAt: undefined, createdBy: undefined, ownerId: undefined },
      });
      return isFirst ? secret : undefined;
    });
  }

  async create(key: NewApiKey, { keysMax, at, by, ownerId }: KeyCreation): Promise<ApiKeyAnswer> {
    if (key.devices !== undefined && !(await canAnswer(this.#database, key.devices))) return { kind: 'FILTER_INVALID' };
    const secret = newKey();
    return audited(
      this.#database,
      by,
      async (transaction): Promise<ApiKeyAnswer> => {
        await transaction.query(KEYS_LOCK, []);
        if (!(await makeRoom(transaction, keysMax, at))) return { kind: 'FULL' };
        const row = { ...key, id: v7({ msecs: at }), prefix: prefixOf(secret), hash: hashOf(secret), createdBy: by.actor, ownerId, at };
        const [record] = await insertKey(transaction, row);
        if (record === undefined) throw new RegistryError('DATABASE_REFUSED', 'A random secret was there already.');
        return { kind: 'created', key: toApiKey(record), secret };
      },
      (answer) =>
        answer.kind === 'created' ? [{ action: 'key.created', subject: `key:${answer.key.id}`, data: shown(answer.key), at }] : [],
    );
  }

  async all(): Promise<readonly ApiKeyRow[]> {
    const records = await this.#database.query<ApiKeyRecord>(
      { name: 'all-keys', text: `SELECT ${KEY_COLUMNS} FROM api_key ORDER BY created_at DESC, id DESC` },
      [],
    );
    return records.map(toApiKey);
  }

  async revoke(id: string, { at, by }: { readonly at: number; readonly by: AuditSource }): Promise<RevocationAnswer> {
    if (!isUuid(id)) return { kind: 'NOT_FOUND' };
    const answer = await audited(
      this.#database,
      by,
      async (transaction) => {
        await transaction.query(KEYS_LOCK, []);
        return revokeKey(transaction, id, at);
      },
      ({ answer: { kind }, key }) =>
        kind === 'revoked' && key?.revokedAt === at ? [{ action: 'key.revoked', subject: `key:${key.id}`, data: shown(key), at }] : [],
    );
    this.forget();
    return answer.answer;
  }

  #noteUse(keyId: string, now: number): void {
    this.#database
      .ask((prisma) => prisma.apiKey.updateMany({ where: { id: keyId }, data: { lastUsedAt: new Date(now) } }))
      .catch((error: unknown) => {
        this.#logger.warn({ keyId, err: error }, 'the last use of an API key was not noted');
      });
  }
}

function principalOf({ id, name, scopes, devices, ownerId: owner }: ApiKeyRow): Principal {
  return { kind: 'KEY', id, name, scopes, ...(owner === undefined ? {} : { owner }), ...(devices === undefined ? {} : { devices }) };
}

/** For the audit trail, which masks what is named like a secret. */
function shown({ name, prefix, scopes, devices, expiresAt }: ApiKeyRow): Readonly<Record<string, unknown>> {
  return { name, prefix, scopes, devices, ...(expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() }) };
}

function isValid({ revokedAt, expiresAt }: ApiKeyRow, now: number): boolean {
  return revokedAt === undefined && (expiresAt === undefined || expiresAt > now);
}

function newKey(): string {
  return `flt_${newSecret()}`;
}

function prefixOf(secret: string): string {
  return secret.slice(0, PREFIX_CHARACTERS);
}
