/** Browsers that are signed in: random tokens that only their cookies have. */
import { v7 } from 'uuid';
import { audited } from '../audit/append-audit.js';
import { QUESTION_TIMEOUT_MS } from '../database/database.js';
import type { Database } from '../database/database.js';
import { storableText } from '../database/json-rows.js';
import { isUuid } from '../database/uuid-v7.js';
import type { RegistryLogger } from '../registry-logger.js';
import { SecretCache } from '../secrets/secret-cache.js';
import { hashOf, newSecret } from '../secrets/secrets.js';
import { toUser } from './user.js';
import type { Asked, UserRecord, UserRow } from './user.js';

/** "Last used" is exact to this. */
const LAST_USED_STEP_MS = 60_000;
/** No token is longer, and hashing long texts costs time. */
const TOKEN_CHARACTERS_MAX = 100;
const USER_AGENT_CHARACTERS_MAX = 200;

export interface NewUserSession {
  readonly userId: string;
  readonly expiresAt: number;
  readonly remoteAddress: string | undefined;
  readonly userAgent: string | undefined;
  /** How the user signed in, for the audit trail. */
  readonly way: 'password' | 'oidc';
  /** The hash against which the password was checked. */
  readonly passwordHash?: string | undefined;
  /** The maximum per user; sessions that were not used for the longest time end. */
  readonly sessionsMax: number;
  /** How long ended sessions are kept, ms: they identify a known browser. */
  readonly keptMs: number;
}

export interface UserSession {
  readonly id: string;
  readonly user: UserRow;
}

const LIVING = `SELECT s.id AS "sessionId", s.token_hash AS "tokenHash",
           (extract(epoch FROM s.expires_at) * 1000)::float8 AS "expiresAt",
           (extract(epoch FROM s.last_used_at) * 1000)::float8 AS "lastUsedAt",
           u.id, u.name, u.email, u.role::text AS role, u.created_at AS "createdAt",
           u.last_sign_in_at AS "lastSignInAt", u.disabled_at AS "disabledAt",
           u.password_hash IS NOT NULL AS "hasPassword", u.oidc_issuer AS "oidcIssuer"
         FROM user_session s JOIN user_account u ON u.id = s.user_id
         WHERE s.revoked_at IS NULL AND u.disabled_at IS NULL`;
/** SQL, because each request of a browser needs the answer. */
const FIND = { text: `${LIVING} AND s.token_hash = ANY($1::text[])`, timeoutMs: QUESTION_TIMEOUT_MS };
const FIND_BY_ID = { text: `${LIVING} AND s.id = $1`, timeoutMs: QUESTION_TIMEOUT_MS };
/** Makes changes of the user wait for the new session, which they then end with the others. */
const LOCK_USER = {
  text: `SELECT FROM user_account
         WHERE id = $1 AND disabled_at IS NULL AND ($2::text IS NULL OR password_hash = $2) FOR UPDATE`,
};
/** Ends sessions beyond the maximum beside the new one, those unused for the longest time first. */
const END_SURPLUS = {
  text: `UPDATE user_session SET revoked_at = to_timestamp($2::float8 / 1000) WHERE id IN (
           SELECT id FROM user_session WHERE user_id = $1 AND revoked_at IS NULL AND id <> $4
           ORDER BY last_used_at DESC, id DESC OFFSET $3 - 1)
         RETURNING id`,
};

type SessionRecord = UserRecord & {
  readonly sessionId: string;
  readonly expiresAt: number;
  readonly lastUsedAt: number;
};

/** `lastUsedAt` is also changed here, so that a use is noted once. */
interface KnownSession {
  readonly session: UserSession;
  lastUsedAt: number;
}

export class UserSessionStore {
  readonly #cache = new SecretCache<SessionRecord, KnownSession>((hashes) => this.#find(hashes));

  constructor(
    private readonly database: Database,
    private readonly logger: RegistryLogger,
  ) {}

  /**
   * Resolves to the id and the token, which is stored nowhere. Undefined where the user was
   * disabled or got another password meanwhile: no session outlives a change that it raced.
   */
  async open(
    session: NewUserSession,
    { at, by }: Asked,
  ): Promise<{ readonly id: string; readonly token: string } | undefined> {
    const { userId, expiresAt, remoteAddress, userAgent, way, passwordHash, sessionsMax, keptMs } = session;
    const [id, token] = [v7({ msecs: at }), newSecret()];
    const now = new Date(at);
    const data = {
      id,
      userId,
      tokenHash: hashOf(token),
      createdAt: now,
      lastUsedAt: now,
      expiresAt: new Date(expiresAt),
      remoteAddress: remoteAddress ?? null,
      userAgent: userAgent === undefined ? null : storableText(userAgent.slice(0, USER_AGENT_CHARACTERS_MAX)),
    };
    const forgotten = new Date(at - keptMs);
    const surplus = await audited(
      this.database,
      by,
      async (transaction) => {
        if ((await transaction.query(LOCK_USER, [userId, passwordHash ?? null])).length === 0) return undefined;
        await transaction.ask(async (prisma) => {
          await prisma.userSession.create({ data });
          const isOld = [{ expiresAt: { lt: forgotten } }, { revokedAt: { lt: forgotten } }];
          await prisma.userSession.deleteMany({ where: { userId, OR: isOld } });
          await prisma.userAccount.updateMany({ where: { id: userId }, data: { lastSignInAt: now } });
        });
        return transaction.query(END_SURPLUS, [userId, at, sessionsMax, id]);
      },
      (ended) =>
        ended === undefined ? [] : [{ action: 'user.signed_in', subject: `user:${userId}`, data: { way }, at }],
    );
    if (surplus === undefined) return undefined;
    if (surplus.length > 0) this.forget();
    return { id, token };
  }

  /**
   * Resolves to the session of a token; undefined for unknown, ended, expired and idle sessions and
   * disabled users. Remembers it for seconds. `watched`: the check is not a use of the session.
   */
  async authenticate(token: string, idleMs: number, watched?: 'watched'): Promise<UserSession | undefined> {
    if (token.length === 0 || token.length > TOKEN_CHARACTERS_MAX) return undefined;
    const known = await this.#cache.authenticate(token, (record, now) => livingOf(record, idleMs, now));
    // Not inside the look-up: a check of an open connection may have made it a moment ago.
    if (known !== undefined && watched === undefined) this.#noteUse(known, Date.now(), idleMs);
    return known?.session;
  }

  /** As `authenticate`, for a browser that only shows which session it had. */
  async find(id: string, idleMs: number, now: number): Promise<UserSession | undefined> {
    if (!isUuid(id)) return undefined;
    const [found] = await this.#read(FIND_BY_ID, id);
    return found && livingOf(found[1], idleMs, now)?.principal.session;
  }

  async end(id: string, { at, by }: Asked): Promise<void> {
    const change = { where: { id, revokedAt: null }, data: { revokedAt: new Date(at) }, select: { userId: true } };
    await audited(
      this.database,
      by,
      (transaction) => transaction.ask((prisma) => prisma.userSession.updateManyAndReturn(change)),
      (ended) => ended.map(({ userId }) => ({ action: 'user.signed_out', subject: `user:${userId}`, data: {}, at })),
    );
    this.forget();
  }

  /** Ends all sessions of a user, and counts them. */
  async endAll(userId: string, { at, by }: Asked): Promise<number> {
    const now = new Date(at);
    const change = { where: { userId, revokedAt: null, expiresAt: { gt: now } }, data: { revokedAt: now } };
    const ended = await audited(
      this.database,
      by,
      async (transaction) => (await transaction.ask((prisma) => prisma.userSession.updateMany(change))).count,
      (sessions) => [{ action: 'user.signed_out_everywhere', subject: `user:${userId}`, data: { sessions }, at }],
    );
    this.forget();
    return ended;
  }

  /** Whether this was a session of this user once, ended or not. */
  async isOf(id: string, userId: string): Promise<boolean> {
    if (!isUuid(id)) return false;
    return (await this.database.ask((prisma) => prisma.userSession.count({ where: { id, userId } }))) > 0;
  }

  /** Looks up all sessions again: another process has changed something. */
  forget(): void {
    this.#cache.clear();
  }

  async #find(hashes: readonly string[]): Promise<ReadonlyMap<string, SessionRecord>> {
    return new Map(await this.#read(FIND, hashes));
  }

  /** By the hashes of their tokens. */
  async #read(statement: typeof FIND | typeof FIND_BY_ID, wanted: string | readonly string[]) {
    const rows = await this.database.query<SessionRecord & { readonly tokenHash: string }>(statement, [wanted]);
    return rows.map(({ tokenHash, ...row }) => [tokenHash, row] as const);
  }

  #noteUse(known: KnownSession, now: number, idleMs: number): void {
    if (now - known.lastUsedAt < Math.min(LAST_USED_STEP_MS, idleMs / 2)) return;
    known.lastUsedAt = now;
    const { id } = known.session;
    this.database
      .ask((prisma) => prisma.userSession.updateMany({ where: { id }, data: { lastUsedAt: new Date(now) } }))
      .catch((error: unknown) => {
        this.logger.warn({ sessionId: id, err: error }, 'the last use of a session was not recorded');
      });
  }
}

/** Undefined for a session that expired or was idle for too long. */
function livingOf({ sessionId: id, expiresAt, lastUsedAt, ...user }: SessionRecord, idleMs: number, now: number) {
  const endsAt = Math.min(expiresAt, lastUsedAt + idleMs);
  return now < endsAt ? { principal: { session: { id, user: toUser(user) }, lastUsedAt }, endsAt } : undefined;
}
