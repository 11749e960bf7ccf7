/** Accounts of people. Each change commits with its audit entry, and with the end of the sessions that it ends. */
import assert from 'node:assert/strict';
import { v7 } from 'uuid';
import { audited } from '../audit/append-audit.js';
import type { Database, Queryable } from '../database/database.js';
import { storableText } from '../database/json-rows.js';
import { isUuid } from '../database/uuid-v7.js';
import type { Asked, NewUser, OidcIdentity, UserAnswer, UserChange, UserRow, UserStore } from './people-stores.js';
import { toUser, USER_COLUMNS, type UserRecord } from './user-rows.js';

/** Whoever makes users or takes admins away goes one after another: few do, and counts hold. */
const LOCK = { text: `SELECT pg_advisory_xact_lock(hashtext('flotilla.users'))` };
const INSERT = {
  text: `INSERT INTO user_account AS u (id, name, email, role, password_hash, oidc_issuer, oidc_subject, created_at)
         VALUES ($1, $2, $3, $4::role, $5, $6, $7, to_timestamp($8::float8 / 1000)) RETURNING ${USER_COLUMNS}`,
};
const UPDATE = {
  text: `UPDATE user_account u SET name = $2, email = $3, role = $4::role, password_hash = coalesce($5, u.password_hash),
           disabled_at = CASE WHEN $6 THEN coalesce(u.disabled_at, to_timestamp($7::float8 / 1000)) END
         WHERE u.id = $1 RETURNING ${USER_COLUMNS}`,
};
const END_SESSIONS = {
  text: `UPDATE user_session SET revoked_at = to_timestamp($2::float8 / 1000)
         WHERE user_id = $1 AND revoked_at IS NULL AND id IS DISTINCT FROM $3::uuid`,
};
const ONE = { text: `SELECT ${USER_COLUMNS} FROM user_account u WHERE u.id = $1` };

export class PgUserStore implements UserStore {
  readonly #database: Database;
  readonly #changed: () => void;

  /** `changed` is told after each change, before whoever asked for it. */
  constructor(database: Database, changed: () => void) {
    this.#database = database;
    this.#changed = changed;
  }

  async all(): Promise<readonly UserRow[]> {
    const text = `SELECT ${USER_COLUMNS} FROM user_account u ORDER BY u.email NULLS LAST, u.id`;
    return (await this.#database.query<UserRecord>({ text }, [])).map(toUser);
  }

  async find(id: string): Promise<UserRow | undefined> {
    return isUuid(id) ? oneUser(this.#database, id) : undefined;
  }

  async findByEmail(email: string): ReturnType<UserStore['findByEmail']> {
    const text = `SELECT ${USER_COLUMNS}, u.password_hash AS "passwordHash" FROM user_account u WHERE u.email = $1`;
    const [row] = await this.#database.query<UserRecord & { passwordHash: string | null }>({ text }, [
      storableText(email.toLowerCase()),
    ]);
    return row && { user: toUser(row), passwordHash: row.passwordHash ?? undefined };
  }

  async passwordHashOf(id: string): Promise<string | undefined> {
    const text = 'SELECT password_hash AS hash FROM user_account WHERE id = $1';
    const [row] = await this.#database.query<{ hash: string | null }>({ text }, [id]);
    return row?.hash ?? undefined;
  }

  async findByOidc({ issuer, subject }: OidcIdentity): Promise<UserRow | undefined> {
    const text = `SELECT ${USER_COLUMNS} FROM user_account u WHERE u.oidc_issuer = $1 AND u.oidc_subject = $2`;
    const [row] = await this.#database.query<UserRecord>({ text }, [storableText(issuer), storableText(subject)]);
    return row && toUser(row);
  }

  linkOidc(id: string, { issuer, subject }: OidcIdentity, { at, by }: Asked): Promise<boolean> {
    const text =
      'UPDATE user_account SET oidc_issuer = $2, oidc_subject = $3 WHERE id = $1 AND oidc_subject IS NULL RETURNING id';
    return audited(
      this.#database,
      by,
      async (transaction) =>
        (await transaction.query({ text }, [id, storableText(issuer), storableText(subject)])).length > 0,
      (isLinked) => (isLinked ? [{ action: 'user.linked', subject: `user:${id}`, data: { issuer, subject }, at }] : []),
    );
  }

  create(user: NewUser, { at, by, usersMax }: Asked & { readonly usersMax: number }): Promise<UserAnswer> {
    return audited(
      this.#database,
      by,
      async (transaction): Promise<UserAnswer> => {
        await transaction.query(LOCK, []);
        if (await isTaken(transaction, user.email)) return { refused: 'EMAIL_TAKEN' };
        const [{ count } = { count: 0 }] = await transaction.query<{ count: number }>(
          { text: 'SELECT count(*)::int AS count FROM user_account' },
          [],
        );
        return count >= usersMax ? { refused: 'TOO_MANY' } : { user: await insert(transaction, user, at) };
      },
      (answer) => ('refused' in answer ? [] : [{ ...actOn('user.created', answer.user, user.passwordHash), at }]),
    );
  }

  createFirst(user: NewUser, at: number, keep?: () => Promise<void>): Promise<boolean> {
    return audited(
      this.#database,
      { actor: 'hub' },
      async (transaction) => {
        await transaction.query(LOCK, []);
        const [somebody] = await transaction.query({ text: 'SELECT FROM user_account LIMIT 1' }, []);
        if (somebody !== undefined) return undefined;
        await keep?.();
        return insert(transaction, user, at);
      },
      (made) => (made === undefined ? [] : [{ ...actOn('user.created', made, user.passwordHash), at }]),
    ).then((made) => made !== undefined);
  }

  async isEmpty(): Promise<boolean> {
    return (await this.#database.query({ text: 'SELECT FROM user_account LIMIT 1' }, [])).length === 0;
  }

  async update(id: string, change: UserChange, { at, by }: Asked): Promise<UserAnswer> {
    if (!isUuid(id)) return { refused: 'NOT_FOUND' };
    const answer = await audited(
      this.#database,
      by,
      async (transaction) => applyChange(transaction, id, change, at),
      (done) => ('refused' in done ? [] : [{ ...actOn('user.updated', done.user, change.passwordHash), at }]),
    );
    this.#changed();
    return answer;
  }

  async setOwnPassword(id: string, passwordHash: string, keptSessionId: string, { at, by }: Asked): Promise<void> {
    await audited(
      this.#database,
      by,
      async (transaction) => {
        await transaction.query({ text: 'UPDATE user_account SET password_hash = $2 WHERE id = $1' }, [
          id,
          passwordHash,
        ]);
        await transaction.query(END_SESSIONS, [id, at, keptSessionId]);
      },
      () => [{ action: 'user.password_changed', subject: `user:${id}`, data: {}, at }],
    );
    this.#changed();
  }
}

/** Ends sessions where the change takes the ground from under them; what merely narrows a role leaves them, with the new scopes. */
async function applyChange(transaction: Queryable, id: string, change: UserChange, at: number): Promise<UserAnswer> {
  await transaction.query(LOCK, []);
  const former = await oneUser(transaction, id);
  if (former === undefined) return { refused: 'NOT_FOUND' };
  const email = change.email === undefined ? former.email : (change.email ?? undefined);
  if (email !== former.email && (await isTaken(transaction, email))) return { refused: 'EMAIL_TAKEN' };
  const role = change.role ?? former.role;
  const disabled = change.disabled ?? former.disabledAt !== undefined;
  if ((disabled || role !== 'ADMIN') && (await isLastAdmin(transaction, former))) return { refused: 'LAST_ADMIN' };
  const name = storableText(change.name ?? former.name);
  const values = [id, name, email?.toLowerCase() ?? null, role, change.passwordHash ?? null, disabled, at];
  const [row] = await transaction.query<UserRecord>(UPDATE, values);
  if (disabled || change.passwordHash !== undefined) await transaction.query(END_SESSIONS, [id, at, null]);
  assert(row);
  return { user: toUser(row) };
}

async function isLastAdmin(transaction: Queryable, { id, role, disabledAt }: UserRow): Promise<boolean> {
  if (role !== 'ADMIN' || disabledAt !== undefined) return false;
  const text = `SELECT FROM user_account WHERE role = 'ADMIN' AND disabled_at IS NULL AND id <> $1 LIMIT 1`;
  return (await transaction.query({ text }, [id])).length === 0;
}

async function isTaken(transaction: Queryable, email: string | undefined): Promise<boolean> {
  if (email === undefined) return false;
  return (
    (await transaction.query({ text: 'SELECT FROM user_account WHERE email = $1' }, [email.toLowerCase()])).length > 0
  );
}

async function insert(
  transaction: Queryable,
  { name, email, role, passwordHash, oidc }: NewUser,
  at: number,
): Promise<UserRow> {
  const identity = oidc === undefined ? [null, null] : [storableText(oidc.issuer), storableText(oidc.subject)];
  const values = [
    v7({ msecs: at }),
    storableText(name),
    email?.toLowerCase() ?? null,
    role,
    passwordHash ?? null,
    ...identity,
    at,
  ];
  const [row] = await transaction.query<UserRecord>(INSERT, values);
  assert(row);
  return toUser(row);
}

async function oneUser(database: Queryable, id: string): Promise<UserRow | undefined> {
  const [row] = await database.query<UserRecord>(ONE, [id]);
  return row && toUser(row);
}

/** The trail masks the value by its name: it says only that there is a new one. */
function actOn(action: string, { id, name, email, role, disabledAt }: UserRow, passwordHash: string | undefined) {
  const password = passwordHash === undefined ? {} : { password: 'set' };
  return {
    action,
    subject: `user:${id}`,
    data: { name, email, role, disabled: disabledAt !== undefined, ...password },
  };
}
