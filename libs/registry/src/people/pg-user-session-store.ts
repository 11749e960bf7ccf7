/** Browsers that are signed in: random tokens that only their cookies have; PostgreSQL has their SHA-256. */
import { v7 } from 'uuid';
import { audited } from '../audit/append-audit.js';
import { QUESTION_TIMEOUT_MS } from '../database/database.js';
import type { Database } from '../database/database.js';
import { storableText } from '../database/json-rows.js';
import { isUuid } from '../database/uuid-v7.js';
import { BoundedCache } from '../devices/bounded-cache.js';
import { PacedLookups } from '../secrets/paced-lookups.js';
import { hashOf, newSecret } from '../secrets/secrets.js';
import type { RegistryLogger } from '../registry-logger.js';
import type { Asked, NewUserSession, UserSession, UserSessionStore } from './people-stores.js';
import { toUser, USER_COLUMNS, type UserRecord } from './user-rows.js';

/** What another process ended works here this much longer at most. */
const REMEMBERED_MS = 5_000;
/** Sessions that are remembered. */
const REMEMBERED_MAX = 1_000;
/** Unknown tokens are remembered apart: guesses take no session's place, and a browser with a stale one does not reach PostgreSQL each time. */
const UNKNOWN_MAX = 10_000;
/** "Last used" is exact to this. */
const LAST_USED_STEP_MS = 60_000;
/** Longer ones are nobody's, and would only cost hashing. */
const TOKEN_CHARACTERS_MAX = 100;
const USER_AGENT_CHARACTERS_MAX = 200;

/** Where the user is disabled or gone there is no row. */
const FIND = {
  text: `SELECT s.id AS "sessionId", s.token_hash AS "tokenHash", extract(epoch FROM s.expires_at) * 1000 AS "expiresAt",
           extract(epoch FROM s.last_used_at) * 1000 AS "lastUsedAt", ${USER_COLUMNS}
         FROM user_session s JOIN user_account u ON u.id = s.user_id
         WHERE s.token_hash = ANY($1::text[]) AND s.revoked_at IS NULL AND u.disabled_at IS NULL`,
  timeoutMs: QUESTION_TIMEOUT_MS,
};
const OPEN = {
  text: `INSERT INTO user_session (id, user_id, token_hash, created_at, last_used_at, expires_at, remote_address, user_agent)
         VALUES ($1, $2, $3, to_timestamp($4::float8 / 1000), to_timestamp($4::float8 / 1000), to_timestamp($5::float8 / 1000), $6, $7)`,
};
/** Until the session is there, so that whoever changes the user waits, and then ends it with the others. */
const HOLD_USER = {
  text: `SELECT FROM user_account WHERE id = $1 AND disabled_at IS NULL AND ($2::text IS NULL OR password_hash = $2) FOR UPDATE`,
};
/** Those unused longest, past the most that one user may have beside the new one. */
const END_SURPLUS = {
  text: `UPDATE user_session SET revoked_at = to_timestamp($2::float8 / 1000) WHERE id IN (
           SELECT id FROM user_session WHERE user_id = $1 AND revoked_at IS NULL AND id <> $4 ORDER BY last_used_at DESC, id DESC OFFSET $3 - 1)
         RETURNING id`,
};
const FORGET = {
  text: `DELETE FROM user_session WHERE user_id = $1 AND least(expires_at, revoked_at) < to_timestamp($2::float8 / 1000)`,
};
const END = {
  text: `UPDATE user_session SET revoked_at = to_timestamp($2::float8 / 1000) WHERE id = $1 AND revoked_at IS NULL RETURNING user_id AS "userId"`,
};
const END_ALL = {
  text: `UPDATE user_session SET revoked_at = to_timestamp($2::float8 / 1000)
         WHERE user_id = $1 AND revoked_at IS NULL AND expires_at > to_timestamp($2::float8 / 1000) RETURNING id`,
};

interface SessionRecord extends UserRecord {
  readonly sessionId: string;
  readonly tokenHash: string;
  readonly expiresAt: string;
  readonly lastUsedAt: string;
}

interface Remembered {
  readonly session: UserSession;
  readonly until: number;
}

export class PgUserSessionStore implements UserSessionStore {
  readonly #database: Database;
  readonly #logger: RegistryLogger;
  readonly #remembered = new BoundedCache<string, Remembered>(REMEMBERED_MAX);
  /** Until when each is not looked up again. */
  readonly #unknown = new BoundedCache<string, number>(UNKNOWN_MAX);
  readonly #lookups = new PacedLookups((hashes) => this.#find(hashes));
  /** Raised by each change: what was read before it is not remembered. */
  #changes = 0;

  constructor(database: Database, logger: RegistryLogger) {
    this.#database = database;
    this.#logger = logger;
  }

  async open(session: NewUserSession, { at, by }: Asked): ReturnType<UserSessionStore['open']> {
    const { userId, expiresAt, remoteAddress, userAgent, way, passwordHash, sessionsMax, keptMs } = session;
    const [id, token] = [v7({ msecs: at }), newSecret()];
    const agent = userAgent === undefined ? null : storableText(userAgent.slice(0, USER_AGENT_CHARACTERS_MAX));
    const surplus = await audited(
      this.#database,
      by,
      async (transaction) => {
        const isFit = (await transaction.query(HOLD_USER, [userId, passwordHash ?? null])).length > 0;
        if (!isFit) return undefined;
        await transaction.query(OPEN, [id, userId, hashOf(token), at, expiresAt, remoteAddress ?? null, agent]);
        await transaction.query(FORGET, [userId, at - keptMs]);
        const text = 'UPDATE user_account SET last_sign_in_at = to_timestamp($2::float8 / 1000) WHERE id = $1';
        await transaction.query({ text }, [userId, at]);
        return transaction.query(END_SURPLUS, [userId, at, sessionsMax, id]);
      },
      (ended) =>
        ended === undefined ? [] : [{ action: 'user.signed_in', subject: `user:${userId}`, data: { way }, at }],
    );
    if (surplus === undefined) return undefined;
    if (surplus.length > 0) this.forget();
    return { id, token };
  }

  async authenticate(token: string, idleMs: number, watched?: 'watched'): Promise<UserSession | undefined> {
    if (token.length === 0 || token.length > TOKEN_CHARACTERS_MAX) return undefined;
    const hash = hashOf(token);
    const now = Date.now();
    const remembered = this.#remembered.get(hash);
    if (remembered !== undefined && now < remembered.until) return remembered.session;
    if (now < (this.#unknown.get(hash) ?? 0)) return undefined;
    const changes = this.#changes;
    // Sessions that were live a moment ago are never kept waiting by those who guess.
    const row = remembered === undefined ? await this.#lookups.ask(hash) : (await this.#find([hash])).get(hash);
    const endsAt = row === undefined ? Infinity : Math.min(Number(row.expiresAt), Number(row.lastUsedAt) + idleMs);
    const isLive = row !== undefined && now < endsAt;
    const session = isLive ? { id: row.sessionId, user: toUser(row) } : undefined;
    if (changes === this.#changes) this.#remember(hash, session, endsAt);
    if (isLive && watched === undefined && now - Number(row.lastUsedAt) >= Math.min(LAST_USED_STEP_MS, idleMs / 2))
      this.#noteUse(row.sessionId, now);
    return session;
  }

  async end(id: string, { at, by }: Asked): Promise<void> {
    await audited(
      this.#database,
      by,
      async (transaction) => transaction.query<{ userId: string }>(END, [id, at]),
      (ended) => ended.map(({ userId }) => ({ action: 'user.signed_out', subject: `user:${userId}`, data: {}, at })),
    );
    this.forget();
  }

  async endAll(userId: string, { at, by }: Asked): Promise<number> {
    const ended = await audited(
      this.#database,
      by,
      async (transaction) => (await transaction.query(END_ALL, [userId, at])).length,
      (sessions) => [{ action: 'user.signed_out_everywhere', subject: `user:${userId}`, data: { sessions }, at }],
    );
    this.forget();
    return ended;
  }

  async isOf(id: string, userId: string): Promise<boolean> {
    if (!isUuid(id)) return false;
    const text = 'SELECT FROM user_session WHERE id = $1 AND user_id = $2';
    return (await this.#database.query({ text }, [id, userId])).length > 0;
  }

  forget(): void {
    this.#changes += 1;
    this.#remembered.clear();
    this.#unknown.clear();
  }

  #remember(hash: string, session: UserSession | undefined, endsAt: number): void {
    const until = Date.now() + REMEMBERED_MS;
    if (session === undefined) {
      this.#remembered.delete(hash);
      this.#unknown.set(hash, until);
    } else {
      this.#remembered.set(hash, { session, until: Math.min(until, endsAt) });
    }
  }

  async #find(hashes: readonly string[]): Promise<ReadonlyMap<string, SessionRecord>> {
    const rows = await this.#database.query<SessionRecord>(FIND, [hashes]);
    return new Map(rows.map((row) => [row.tokenHash, row]));
  }

  #noteUse(id: string, now: number): void {
    const text = 'UPDATE user_session SET last_used_at = to_timestamp($2::float8 / 1000) WHERE id = $1';
    this.#database.query({ text }, [id, now]).catch((error: unknown) => {
      this.#logger.warn({ sessionId: id, err: error }, 'the last use of a session was not noted');
    });
  }
}
