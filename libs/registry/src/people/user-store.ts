/**
 * Accounts of people. Each change commits with its audit entry, and with the end of the sessions
 * that it ends.
 */
import { v7 } from 'uuid';
import { audited } from '../audit/append-audit.js';
import type { Database, Queryable } from '../database/database.js';
import { storableText } from '../database/json-rows.js';
import { isUuid } from '../database/uuid-v7.js';
import type { Prisma, UserAccount } from '../generated/prisma/client.js';
import { userOf } from './user.js';
import type { Asked, NewUser, OidcIdentity, UserAnswer, UserChange, UserRow } from './user.js';

/** Passwords as hashes. */
interface OwnPassword {
  readonly userId: string;
  readonly sessionId: string;
  readonly former: string;
  readonly next: string;
}

/**
 * Transactions that create users or remove admins take turns: they are few, and their counts hold.
 */
const LOCK = { text: `SELECT pg_advisory_xact_lock(hashtext('flotilla.users'))` };
/** Hashing takes time, and a reset by an admin in it must stay. */
const SET_OWN_PASSWORD = {
  text: `UPDATE user_account SET password_hash = $4
         WHERE id = $1 AND password_hash = $2 AND disabled_at IS NULL
           AND EXISTS (SELECT FROM user_session WHERE id = $3 AND revoked_at IS NULL)
         RETURNING id`,
};

export class UserStore {
  /** `changed` is called after each change, before the caller gets the answer. */
  constructor(
    private readonly database: Database,
    private readonly changed: () => void,
  ) {}

  /** By e-mail address; users without one come last. */
  async all(): Promise<readonly UserRow[]> {
    const orderBy = [{ email: { sort: 'asc' as const, nulls: 'last' as const } }, { id: 'asc' as const }];
    return (await this.database.ask((prisma) => prisma.userAccount.findMany({ orderBy }))).map(userOf);
  }

  find(id: string): Promise<UserRow | undefined> {
    return isUuid(id) ? this.#findOne({ id }) : Promise.resolve(undefined);
  }

  /** `email` in any case. */
  async findByEmail(
    email: string,
  ): Promise<{ readonly user: UserRow; readonly passwordHash: string | undefined } | undefined> {
    const where = { email: storableText(email.toLowerCase()) };
    const found = await this.database.ask((prisma) => prisma.userAccount.findUnique({ where }));
    if (found === null) return undefined;
    return { user: userOf(found), passwordHash: found.passwordHash ?? undefined };
  }

  async passwordHashOf(id: string): Promise<string | undefined> {
    const query = { where: { id }, select: { passwordHash: true } };
    return (await this.database.ask((prisma) => prisma.userAccount.findUnique(query)))?.passwordHash ?? undefined;
  }

  findByOidc(identity: OidcIdentity): Promise<UserRow | undefined> {
    return this.#findOne({ oidcIssuer_oidcSubject: oidcColumns(identity) });
  }

  /** Links the account to the identity. False where it is linked to another one. */
  linkOidc(id: string, identity: OidcIdentity, { at, by }: Asked): Promise<boolean> {
    const change = { where: { id, oidcSubject: null }, data: oidcColumns(identity) };
    return audited(
      this.database,
      by,
      async (transaction) => (await transaction.ask((prisma) => prisma.userAccount.updateMany(change))).count > 0,
      (isLinked) => (isLinked ? [{ action: 'user.linked', subject: `user:${id}`, data: { ...identity }, at }] : []),
    );
  }

  create(user: NewUser, { at, by, usersMax }: Asked & { readonly usersMax: number }): Promise<UserAnswer> {
    return audited(
      this.database,
      by,
      async (transaction): Promise<UserAnswer> => {
        await lock(transaction);
        return transaction.ask(async (prisma) => {
          if (await isTaken(prisma, user.email)) return { refused: 'EMAIL_TAKEN' };
          if (await isLinked(prisma, user.oidc)) return { refused: 'IDENTITY_TAKEN' };
          if ((await prisma.userAccount.count()) >= usersMax) return { refused: 'TOO_MANY' };
          return { user: await insert(prisma, user, at) };
        });
      },
      (answer) => ('refused' in answer ? [] : [{ ...changeOf('user.created', answer.user, user.passwordHash), at }]),
    );
  }

  /**
   * Creates the first user of an empty table, however many processes try at once; false where there
   * is one already. Where `keep` rejects, none is created.
   */
  createFirst(user: NewUser, at: number, keep?: () => Promise<void>): Promise<boolean> {
    return audited(
      this.database,
      { actor: 'hub' },
      async (transaction) => {
        await lock(transaction);
        if (!(await isEmpty(transaction))) return undefined;
        await keep?.();
        return transaction.ask((prisma) => insert(prisma, user, at));
      },
      (made) => (made === undefined ? [] : [{ ...changeOf('user.created', made, user.passwordHash), at }]),
    ).then((made) => made !== undefined);
  }

  isEmpty(): Promise<boolean> {
    return isEmpty(this.database);
  }

  async update(id: string, change: UserChange, { at, by }: Asked): Promise<UserAnswer> {
    if (!isUuid(id)) return { refused: 'NOT_FOUND' };
    const answer = await audited(
      this.database,
      by,
      async (transaction) => {
        await lock(transaction);
        return transaction.ask((prisma) => applyChange(prisma, id, change, at));
      },
      (done) => ('refused' in done ? [] : [{ ...changeOf('user.updated', done.user, change.passwordHash), at }]),
    );
    this.changed();
    return answer;
  }

  /** Deletes an account and its sessions. Records keep the name that they were written with. */
  async remove(id: string, { at, by }: Asked): Promise<UserAnswer> {
    if (!isUuid(id)) return { refused: 'NOT_FOUND' };
    const answer = await audited(
      this.database,
      by,
      async (transaction): Promise<UserAnswer> => {
        await lock(transaction);
        return transaction.ask(async (prisma) => {
          const former = await prisma.userAccount.findUnique({ where: { id } });
          if (former === null) return { refused: 'NOT_FOUND' };
          if (await isLastAdmin(prisma, former)) return { refused: 'LAST_ADMIN' };
          // In the order of other changes: the account before its sessions.
          const user = userOf(await prisma.userAccount.delete({ where: { id } }));
          await prisma.userSession.deleteMany({ where: { userId: id } });
          await prisma.agentGrant.deleteMany({ where: { userId: id } });
          return { user };
        });
      },
      (done) => ('refused' in done ? [] : [{ ...changeOf('user.deleted', done.user, undefined), at }]),
    );
    this.changed();
    return answer;
  }

  /**
   * Changes the user's own password. The session stays; all others of the user end. False where the
   * password is another one by now, the user is disabled, or the session has ended.
   */
  async setOwnPassword({ userId, sessionId, former, next }: OwnPassword, { at, by }: Asked): Promise<boolean> {
    const isChanged = await audited(
      this.database,
      by,
      async (transaction) => {
        const changed = await transaction.query(SET_OWN_PASSWORD, [userId, former, sessionId, next]);
        if (changed.length === 0) return false;
        await transaction.ask((prisma) => endSessions(prisma, userId, at, sessionId));
        return true;
      },
      (done) => (done ? [{ action: 'user.password_changed', subject: `user:${userId}`, data: {}, at }] : []),
    );
    this.changed();
    return isChanged;
  }

  async #findOne(where: Prisma.UserAccountWhereUniqueInput): Promise<UserRow | undefined> {
    const found = await this.database.ask((prisma) => prisma.userAccount.findUnique({ where }));
    return found === null ? undefined : userOf(found);
  }
}

async function lock(transaction: Queryable): Promise<void> {
  await transaction.query(LOCK, []);
}

/** SQL, because it runs at each start, before Prisma is loaded. */
async function isEmpty(database: Queryable): Promise<boolean> {
  return (await database.query({ text: 'SELECT FROM user_account LIMIT 1' }, [])).length === 0;
}

/**
 * Ends the sessions that the change makes invalid; a smaller role keeps them, with fewer rights.
 */
async function applyChange(
  prisma: Prisma.TransactionClient,
  id: string,
  change: UserChange,
  at: number,
): Promise<UserAnswer> {
  const former = await prisma.userAccount.findUnique({ where: { id } });
  if (former === null) return { refused: 'NOT_FOUND' };
  const email = change.email === undefined ? former.email : (change.email?.toLowerCase() ?? null);
  if (email !== former.email && (await isTaken(prisma, email))) return { refused: 'EMAIL_TAKEN' };
  const role = change.role ?? former.role;
  const disabled = change.disabled ?? former.disabledAt !== null;
  const losesSignIn = canSignIn(former) && !canSignIn({ ...former, email });
  if ((disabled || role !== 'ADMIN' || losesSignIn) && (await isLastAdmin(prisma, former)))
    return { refused: 'LAST_ADMIN' };
  const data = {
    name: storableText(change.name ?? former.name),
    email,
    role,
    ...(change.passwordHash === undefined ? {} : { passwordHash: change.passwordHash }),
    disabledAt: disabled ? (former.disabledAt ?? new Date(at)) : null,
  };
  const user = await prisma.userAccount.update({ where: { id }, data });
  if (disabled || change.passwordHash !== undefined) await endSessions(prisma, id, at);
  return { user: userOf(user) };
}

async function endSessions(
  prisma: Prisma.TransactionClient,
  userId: string,
  at: number,
  keptId?: string,
): Promise<void> {
  const where = { userId, revokedAt: null, ...(keptId === undefined ? {} : { id: { not: keptId } }) };
  await prisma.userSession.updateMany({ where, data: { revokedAt: new Date(at) } });
}

/** With a password, for which one types an e-mail address, or as a known person of a provider. */
function canSignIn({ email, passwordHash, oidcSubject }: Credentials): boolean {
  return (email !== null && passwordHash !== null) || oidcSubject !== null;
}

type Credentials = Pick<UserAccount, 'email' | 'passwordHash' | 'oidcSubject'>;

/** Whether no other admin can sign in. */
async function isLastAdmin(prisma: Prisma.TransactionClient, user: UserAccount): Promise<boolean> {
  const { id, role, disabledAt } = user;
  if (role !== 'ADMIN' || disabledAt !== null) return false;
  const usable = { OR: [{ email: { not: null }, passwordHash: { not: null } }, { oidcSubject: { not: null } }] };
  const others = { role, disabledAt: null, id: { not: id }, ...(canSignIn(user) && usable) };
  return (await prisma.userAccount.count({ where: others })) === 0;
}

async function isTaken(prisma: Prisma.TransactionClient, email: string | null | undefined): Promise<boolean> {
  if (email === undefined || email === null) return false;
  return (await prisma.userAccount.count({ where: { email: email.toLowerCase() } })) > 0;
}

async function isLinked(prisma: Prisma.TransactionClient, oidc: OidcIdentity | undefined): Promise<boolean> {
  return oidc !== undefined && (await prisma.userAccount.count({ where: oidcColumns(oidc) })) > 0;
}

async function insert(prisma: Prisma.TransactionClient, user: NewUser, at: number): Promise<UserRow> {
  const { name, email, role, passwordHash, oidc } = user;
  const data = {
    id: v7({ msecs: at }),
    name: storableText(name),
    email: email?.toLowerCase() ?? null,
    role,
    passwordHash: passwordHash ?? null,
    createdAt: new Date(at),
    ...(oidc === undefined ? {} : oidcColumns(oidc)),
  };
  return userOf(await prisma.userAccount.create({ data }));
}

function oidcColumns({ issuer, subject }: OidcIdentity) {
  return { oidcIssuer: storableText(issuer), oidcSubject: storableText(subject) };
}

/**
 * The audit trail masks the password by its name, so that it shows only that there is a new one.
 */
function changeOf(action: string, { id, name, email, role, disabledAt }: UserRow, passwordHash: string | undefined) {
  const password = passwordHash === undefined ? {} : { password: 'set' };
  return {
    action,
    subject: `user:${id}`,
    data: { name, email, role, disabled: disabledAt !== undefined, ...password },
  };
}
