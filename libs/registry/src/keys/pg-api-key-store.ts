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
import { PacedLookups } from '../secrets/paced-lookups.js';
import { hashOf, newSecret } from '../secrets/secrets.js';
import type {
  ApiKeyAnswer,
  ApiKeyRow,
  ApiKeyStore,
  KeyCreation,
  NewApiKey,
  RevocationAnswer,
} from './api-key-store.js';
import {
  canAnswer,
  insertKey,
  KEY_COLUMNS,
  makeRoom,
  revokeKey,
  SCOPES,
  toApiKey,
  type ApiKeyRecord,
} from './key-rows.js';

/** A key that was revoked in another process works this much longer at most, if the news of it is lost. */
const REMEMBERED_MS = 5_000;
/** Keys that are remembered: all that there can be. */
const REMEMBERED_MAX = 1_000;
/** Unknown secrets are remembered apart, so that guesses take no key's place, and a client that repeats one does not reach PostgreSQL. */
const UNKNOWN_MAX = 10_000;
/** "Last used" is exact to this. */
const LAST_USED_STEP_MS = 60_000;
const ADMIN_KEY_CHARACTERS_MIN = 32;
/** Longer ones are nobody's, and would only cost hashing. */
const SECRET_CHARACTERS_MAX = 512;
const PREFIX_CHARACTERS = 8;
/** Makers of keys take turns: their number is bounded, and two hubs that start at once on an empty database make one admin key. */
const KEYS_LOCK = { text: 'SELECT pg_advisory_xact_lock(4607182419)' };

const FIND = {
  name: 'keys-by-hash',
  text: `SELECT ${KEY_COLUMNS}, secret_hash FROM api_key WHERE secret_hash = ANY($1::text[])`,
  timeoutMs: QUESTION_TIMEOUT_MS,
};

interface Remembered {
  readonly principal: Principal;
  readonly until: number;
}

export class PgApiKeyStore implements ApiKeyStore {
  readonly #database: Database;
  readonly #logger: RegistryLogger;
  readonly #remembered = new BoundedCache<string, Remembered>(REMEMBERED_MAX);
  /** Until when each is not looked up again. */
  readonly #unknown = new BoundedCache<string, number>(UNKNOWN_MAX);
  readonly #lookups = new PacedLookups((hashes) => this.#find(hashes));
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
    if (now < (this.#unknown.get(hash) ?? 0)) return undefined;
    const generation = this.#generation;
    // Keys that were valid a moment ago are never kept waiting by those who guess.
    const key = remembered === undefined ? await this.#lookups.ask(hash) : (await this.#find([hash])).get(hash);
    const principal = key && isValid(key, now) ? principalOf(key) : undefined;
    if (generation === this.#generation) this.#remember(hash, principal, key?.expiresAt);
    if (principal !== undefined && now - (key?.lastUsedAt ?? 0) >= LAST_USED_STEP_MS) this.#noteUse(principal.id, now);
    return principal;
  }

  /** All of them: revocations are rare, and keys are looked up again cheaply. */
  forget(): void {
    this.#generation += 1;
    this.#remembered.clear();
    this.#unknown.clear();
  }

  async ensureAdminKey(
    given: string | undefined,
    keep?: (secret: string) => Promise<void>,
  ): Promise<string | undefined> {
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
      if (given === undefined) await keep?.(secret);
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
        const row = {
          ...key,
          id: v7({ msecs: at }),
          prefix: prefixOf(secret),
          hash: hashOf(secret),
          createdBy: by.actor,
          ownerId,
          at,
        };
        const [record] = await insertKey(transaction, row);
        if (record === undefined) throw new RegistryError('DATABASE_REFUSED', 'A random secret was there already.');
        return { kind: 'created', key: toApiKey(record), secret };
      },
      (answer) =>
        answer.kind === 'created'
          ? [{ action: 'key.created', subject: `key:${answer.key.id}`, data: shown(answer.key), at }]
          : [],
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
        kind === 'revoked' && key?.revokedAt === at
          ? [{ action: 'key.revoked', subject: `key:${key.id}`, data: shown(key), at }]
          : [],
    );
    this.forget();
    return answer.answer;
  }

  #remember(hash: string, principal: Principal | undefined, expiresAt = Infinity): void {
    const until = Date.now() + REMEMBERED_MS;
    if (principal === undefined) {
      this.#remembered.delete(hash);
      this.#unknown.set(hash, until);
    } else {
      this.#remembered.set(hash, { principal, until: Math.min(until, expiresAt) });
    }
  }

  async #find(hashes: readonly string[]): Promise<ReadonlyMap<string, ApiKeyRow>> {
    const records = await this.#database.query<ApiKeyRecord & { readonly secret_hash: string }>(FIND, [hashes]);
    return new Map(records.map((record) => [record.secret_hash, toApiKey(record)]));
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
  return {
    kind: 'KEY',
    id,
    name,
    scopes,
    ...(owner === undefined ? {} : { owner }),
    ...(devices === undefined ? {} : { devices }),
  };
}

/** For the audit trail, which masks what is named like a secret. */
function shown({ name, prefix, scopes, devices, expiresAt }: ApiKeyRow): Readonly<Record<string, unknown>> {
  return {
    name,
    prefix,
    scopes,
    devices,
    ...(expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
  };
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
