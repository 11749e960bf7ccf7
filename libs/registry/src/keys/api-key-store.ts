/**
 * API keys: random secrets that only their holders know. Knows who holds a key, not what a scope
 * allows.
 */
import { audited } from '../audit/append-audit.js';
import type { AuditSource } from '../audit/audit-entry.js';
import { QUESTION_TIMEOUT_MS } from '../database/database.js';
import type { Database } from '../database/database.js';
import { isUuid } from '../database/uuid-v7.js';
import type { DeviceFilter } from '../device-filter.js';
import { canAnswer, resolveFilter } from '../groups/resolve-filter.js';
import { RegistryError } from '../registry-error.js';
import type { RegistryLogger } from '../registry-logger.js';
import type { Principal } from '../registry.js';
import { SecretCache } from '../secrets/secret-cache.js';
import { hashOf } from '../secrets/secrets.js';
import { SCOPES, toApiKey } from './api-key.js';
import type { ApiKeyAnswer, ApiKeyRecord, ApiKeyRow, KeyCreation, NewApiKey, RevocationAnswer } from './api-key.js';
import { lockKeys, makeRoom, newKey, revokeKey, rowOf } from './key-changes.js';

/** "Last used" is exact to this. */
const LAST_USED_STEP_MS = 60_000;
const ADMIN_KEY_CHARACTERS_MIN = 32;
/** No key is longer, and hashing long texts costs time. */
const SECRET_CHARACTERS_MAX = 512;

/** SQL, because each request of the API needs the answer. */
const FIND = {
  name: 'keys-by-hash',
  text: `SELECT id, name, prefix, scopes, devices, created_at AS "createdAt", created_by AS "createdBy",
           owner_id AS "ownerId", expires_at AS "expiresAt", last_used_at AS "lastUsedAt", revoked_at AS "revokedAt",
           secret_hash AS "secretHash"
         FROM api_key WHERE secret_hash = ANY($1::text[])`,
  timeoutMs: QUESTION_TIMEOUT_MS,
};

/** SQL, because it runs at each start, before Prisma is loaded. */
const COUNT = {
  text: `SELECT count(*)::int AS count, (count(*) FILTER (WHERE secret_hash = $1))::int AS given FROM api_key`,
};

/** The public members, which other objects can implement. */
export type ApiKeys = Pick<ApiKeyStore, keyof ApiKeyStore>;

/**
 * Changes by people are given `by`, and are recorded in the audit trail in their own transaction.
 */
export class ApiKeyStore {
  readonly #cache = new SecretCache<ApiKeyRow, Principal>((hashes) => this.#find(hashes));

  constructor(
    private readonly database: Database,
    private readonly logger: RegistryLogger,
  ) {}

  /**
   * Resolves to the holder; undefined for unknown, revoked and expired keys. Remembers it for
   * seconds.
   */
  async authenticate(secret: string): Promise<Principal | undefined> {
    if (secret.length === 0 || secret.length > SECRET_CHARACTERS_MAX) return undefined;
    return this.#cache.authenticate(secret, (key, now) => {
      const endsAt = key.expiresAt ?? Infinity;
      if (key.revokedAt !== undefined || endsAt <= now) return undefined;
      if (now - (key.lastUsedAt ?? 0) >= LAST_USED_STEP_MS) this.#noteUse(key.id, now);
      return { principal: principalOf(key), endsAt };
    });
  }

  /** Looks up all keys again: another process has revoked one. */
  forget(): void {
    this.#cache.clear();
  }

  /**
   * Creates the first admin key, random or `given`; undefined where there are keys already.
   * `keep` stores a random one before it counts: where it rejects, there is no key.
   */
  async ensureAdminKey(
    given: string | undefined,
    keep?: (secret: string) => Promise<void>,
  ): Promise<string | undefined> {
    if (given !== undefined && (given.length < ADMIN_KEY_CHARACTERS_MIN || given.length > SECRET_CHARACTERS_MAX)) {
      const allowed = `${String(ADMIN_KEY_CHARACTERS_MIN)} to ${String(SECRET_CHARACTERS_MAX)}`;
      throw new RegistryError(
        'ARGUMENT_INVALID',
        `An admin key has ${allowed} characters; the given one has ${String(given.length)}.`,
      );
    }
    return this.database.transaction(async (transaction) => {
      await lockKeys(transaction);
      const [keys] = await transaction.query<{ count: number; given: number }>(COUNT, [given && hashOf(given)]);
      const isFirst = keys?.count === 0;
      if (!isFirst && (given === undefined || keys?.given !== 0)) return undefined;
      const secret = given ?? newKey();
      if (given === undefined) await keep?.(secret);
      const row = rowOf(secret, {
        name: 'admin',
        scopes: SCOPES,
        at: Date.now(),
        devices: undefined,
        expiresAt: undefined,
        createdBy: undefined,
        ownerId: undefined,
      });
      await transaction.ask((prisma) => prisma.apiKey.create({ data: row }));
      return isFirst ? secret : undefined;
    });
  }

  /** Removes expired and revoked keys where there is no room, those that ended first. */
  async create(key: NewApiKey, { keysMax, at, by, ownerId }: KeyCreation): Promise<ApiKeyAnswer> {
    if (key.devices !== undefined && !(await this.#canAnswer(key.devices))) return { kind: 'FILTER_INVALID' };
    const secret = newKey();
    return audited(
      this.database,
      by,
      async (transaction): Promise<ApiKeyAnswer> => {
        await lockKeys(transaction);
        if (!(await makeRoom(transaction, keysMax, at))) return { kind: 'FULL' };
        const data = rowOf(secret, { ...key, createdBy: by.actor, ownerId, at });
        const made = await transaction.ask((prisma) => prisma.apiKey.create({ data, omit: { secretHash: true } }));
        return { kind: 'created', key: toApiKey(made), secret };
      },
      (answer) =>
        answer.kind === 'created'
          ? [{ action: 'key.created', subject: `key:${answer.key.id}`, data: auditDataOf(answer.key), at }]
          : [],
    );
  }

  /** All keys, the newest first. */
  async all(): Promise<readonly ApiKeyRow[]> {
    const orderBy = [{ createdAt: 'desc' as const }, { id: 'desc' as const }];
    const keys = await this.database.ask((prisma) => prisma.apiKey.findMany({ orderBy, omit: { secretHash: true } }));
    return keys.map(toApiKey);
  }

  /** Takes effect in this process at once. Revoking a revoked key changes nothing. */
  async revoke(id: string, { at, by }: { readonly at: number; readonly by: AuditSource }): Promise<RevocationAnswer> {
    if (!isUuid(id)) return { kind: 'NOT_FOUND' };
    const { answer } = await audited(
      this.database,
      by,
      async (transaction) => {
        await lockKeys(transaction);
        return revokeKey(transaction, id, at);
      },
      ({ key }) =>
        key === undefined ? [] : [{ action: 'key.revoked', subject: `key:${key.id}`, data: auditDataOf(key), at }],
    );
    this.forget();
    return answer;
  }

  async #canAnswer(devices: DeviceFilter): Promise<boolean> {
    return canAnswer(this.database, await resolveFilter(this.database, devices));
  }

  async #find(hashes: readonly string[]): Promise<ReadonlyMap<string, ApiKeyRow>> {
    const records = await this.database.query<ApiKeyRecord & { readonly secretHash: string }>(FIND, [hashes]);
    return new Map(records.map(({ secretHash, ...record }) => [secretHash, toApiKey(record)]));
  }

  #noteUse(keyId: string, now: number): void {
    this.database
      .ask((prisma) => prisma.apiKey.updateMany({ where: { id: keyId }, data: { lastUsedAt: new Date(now) } }))
      .catch((error: unknown) => {
        this.logger.warn({ keyId, err: error }, 'the last use of an API key was not recorded');
      });
  }
}

function principalOf({ id, name, scopes, devices, ownerId: owner }: ApiKeyRow): Principal {
  const optional = { ...(owner === undefined ? {} : { owner }), ...(devices === undefined ? {} : { devices }) };
  return { kind: 'KEY', id, name, scopes, ...optional };
}

/** For the audit trail, which masks members that are named like a secret. */
function auditDataOf({ name, prefix, scopes, devices, expiresAt }: ApiKeyRow): Readonly<Record<string, unknown>> {
  const ends = expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() };
  return { name, prefix, scopes, devices, ...ends };
}
