import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { NewUserSession, Registry, UserAnswer, UserRow } from '../index.js';
import { openRegistry } from '../index.js';
import { openTestDatabase } from '../test-database.js';
import type { TestDatabase } from '../test-database.js';
import { execute } from '../test-server.js';
import type { Asked, NewUser } from './user.js';

let database: TestDatabase;
let registry: Registry;
let other: Registry;

beforeAll(async () => {
  database = await openTestDatabase();
  registry = await openRegistry({ databaseUrl: database.databaseUrl });
  other = await openRegistry({ databaseUrl: database.databaseUrl });
});

afterAll(async () => {
  await other.close();
  await registry.close();
  await database.close();
});

const IDLE_MS = 3_600_000;
const DAY_MS = 86_400_000;
let now: number;
let asked: Asked;

beforeEach(() => {
  now = Date.now();
  asked = { at: now, by: { actor: 'the spec', remoteAddress: '192.0.2.7' } };
});

function userOf(answer: UserAnswer): UserRow {
  if ('refused' in answer) throw new Error(`refused: ${answer.refused}`);
  return answer.user;
}

const create = (user: Partial<NewUser>, usersMax = 100) =>
  registry.users.create({ name: 'Ada', email: undefined, role: 'VIEWER', ...user }, { ...asked, usersMax });
type Change = Partial<Pick<NewUserSession, 'expiresAt' | 'sessionsMax' | 'passwordHash'>>;
const openSession = (userId: string, change: Change = {}) =>
  registry.userSessions.open(
    {
      userId,
      expiresAt: now + DAY_MS,
      remoteAddress: '192.0.2.7',
      userAgent: 'Spec/1',
      way: 'password' as const,
      sessionsMax: 5,
      keptMs: 30 * DAY_MS,
      ...change,
    },
    asked,
  );
const signIn = async (userId: string, change: Change = {}) => {
  const opened = await openSession(userId, change);
  if (opened === undefined) throw new Error('no session was opened');
  return opened;
};
const who = async (token: string, at = registry) => (await at.userSessions.authenticate(token, IDLE_MS))?.user.name;
const latestEntry = async () => (await registry.audit.page({}, { first: 1 })).rows[0];

describe('users', () => {
  it('begin with one, however many processes create it', async () => {
    const first = { name: 'First', email: 'first@example.net', role: 'ADMIN', passwordHash: '$argon2id$x' } as const;
    const made = await Promise.all([
      registry.users.createFirst(first, now),
      other.users.createFirst({ ...first, email: 'b@example.net' }, now),
    ]);
    expect(made.filter(Boolean)).toHaveLength(1);
    expect(await registry.users.isEmpty()).toBe(false);
  });

  it('have a unique e-mail address without regard to case', async () => {
    const ada = userOf(await create({ email: 'Ada@Example.net', passwordHash: '$argon2id$a' }));
    expect(ada).toMatchObject({
      email: 'ada@example.net',
      role: 'VIEWER',
      disabledAt: undefined,
      lastSignInAt: undefined,
    });
    expect(await registry.users.findByEmail('ADA@example.NET')).toEqual({ user: ada, passwordHash: '$argon2id$a' });
    expect(await create({ email: 'ADA@EXAMPLE.NET' })).toEqual({ refused: 'EMAIL_TAKEN' });
    const bob = userOf(await create({ name: 'Bob', email: 'bob@example.net' }));
    expect(await registry.users.update(bob.id, { email: 'Ada@example.net' }, asked)).toEqual({
      refused: 'EMAIL_TAKEN',
    });
    expect(await registry.users.update(ada.id, { email: 'ADA@example.net', name: 'Lady Ada' }, asked)).toMatchObject({
      user: { email: 'ada@example.net', name: 'Lady Ada' },
    });
    expect(await create({ email: 'one@example.net' }, 2)).toEqual({ refused: 'TOO_MANY' });
    expect(await registry.users.update('no-uuid', {}, asked)).toEqual({ refused: 'NOT_FOUND' });
  });

  it('are recorded with what was changed, and never with a password', async () => {
    const user = userOf(await create({ name: 'Eve', email: 'eve@example.net', passwordHash: '$argon2id$secret' }));
    expect(await latestEntry()).toMatchObject({
      actor: 'the spec',
      action: 'user.created',
      subject: `user:${user.id}`,
      remoteAddress: '192.0.2.7',
      data: { name: 'Eve', email: 'eve@example.net', role: 'VIEWER', disabled: false, password: '***' },
    });
  });

  it('always have an admin who is not disabled, also where two are taken away at once', async () => {
    const admins = (await registry.users.all()).filter(({ role }) => role === 'ADMIN');
    const second = userOf(await create({ name: 'Second', email: 'second@example.net', role: 'ADMIN' }));
    const ids = [...admins.map(({ id }) => id), second.id];
    const [one, two] = await Promise.all([
      registry.users.update(ids[0] ?? '', { disabled: true }, asked),
      other.users.update(ids[1] ?? '', { role: 'VIEWER' }, asked),
    ]);
    expect([one, two].filter((answer) => 'refused' in answer && answer.refused === 'LAST_ADMIN')).toHaveLength(1);
    const left = (await registry.users.all()).filter(
      ({ role, disabledAt }) => role === 'ADMIN' && disabledAt === undefined,
    );
    expect(left).toHaveLength(1);
    await registry.users.update(ids[0] ?? '', { disabled: false, role: 'ADMIN' }, asked);
  });

  it('always have an admin who can sign in: with a password, or with an identity of a provider', async () => {
    const [admin, ...more] = (await registry.users.all()).filter(({ role }) => role === 'ADMIN');
    expect(more).toEqual([]);
    const id = admin?.id ?? '';
    await registry.users.update(id, { passwordHash: 'hash' }, asked);
    const invited = userOf(await create({ name: 'Invited', email: 'invited@example.net', role: 'ADMIN' }));
    const refused = { refused: 'LAST_ADMIN' };
    expect(await registry.users.update(id, { disabled: true }, asked)).toEqual(refused);
    expect(await registry.users.update(id, { role: 'VIEWER' }, asked)).toEqual(refused);
    expect(await registry.users.remove(id, asked)).toEqual(refused);
    const identity = { issuer: 'https://id.example.net', subject: 'invited' };
    expect(await registry.users.linkOidc(invited.id, identity, asked)).toBe(true);
    expect(await registry.users.update(id, { role: 'VIEWER' }, asked)).toMatchObject({ user: { role: 'VIEWER' } });
    expect(await registry.users.remove(invited.id, asked)).toEqual(refused);
    await registry.users.update(id, { role: 'ADMIN' }, asked);
    expect(await registry.users.remove(invited.id, asked)).toMatchObject({ user: { id: invited.id } });
  });

  it('always have an admin with an e-mail address for the password', async () => {
    const id = (await registry.users.all()).find(({ role }) => role === 'ADMIN')?.id ?? '';
    await registry.users.update(id, { passwordHash: 'hash' }, asked);
    const other = userOf(await create({ email: 'second@example.org', role: 'ADMIN', passwordHash: 'hash' }));
    await registry.users.update(other.id, { email: null }, asked);
    for (const change of [{ role: 'VIEWER' }, { email: null }] as const)
      expect(await registry.users.update(id, change, asked)).toEqual({ refused: 'LAST_ADMIN' });
    expect(await registry.users.remove(other.id, asked)).toMatchObject({ user: { id: other.id } });
  });

  it('are tied to one identity of a provider', async () => {
    const user = userOf(await create({ name: 'Oda', email: 'oda@example.net' }));
    const identity = { issuer: 'https://id.example.net', subject: '42' };
    expect(await registry.users.linkOidc(user.id, identity, asked)).toBe(true);
    expect((await registry.users.findByOidc(identity))?.id).toBe(user.id);
    expect(await registry.users.linkOidc(user.id, { ...identity, subject: '43' }, asked)).toBe(false);
    expect(await registry.users.findByOidc({ ...identity, subject: '43' })).toBeUndefined();
  });
});

describe('sessions of users', () => {
  it('are known by their token, here and in other processes, until they end', async () => {
    const user = userOf(await create({ name: 'Una', email: 'una@example.net' }));
    const { id, token } = await signIn(user.id);
    expect(token).toMatch(/^[\w-]{43}$/);
    expect([await who(token), await who(token, other), await who(`${token}x`)]).toEqual(['Una', 'Una', undefined]);
    expect((await registry.users.find(user.id))?.lastSignInAt).toBe(now);
    await registry.userSessions.end(id, asked);
    expect(await who(token)).toBeUndefined();
    expect(await registry.userSessions.isOf(id, user.id)).toBe(true);
    expect(await latestEntry()).toMatchObject({ action: 'user.signed_out', subject: `user:${user.id}` });
  });

  it('are found by their id while they live', async () => {
    const user = userOf(await create({ name: 'Ned', email: 'ned@example.net' }));
    const { id } = await signIn(user.id);
    const find = (at = now, idleMs = IDLE_MS) => registry.userSessions.find(id, idleMs, at);
    expect(await find()).toMatchObject({ id, user: { id: user.id, name: 'Ned' } });
    expect([await find(now + IDLE_MS), await registry.userSessions.find('x', IDLE_MS, now)]).toEqual([
      undefined,
      undefined,
    ]);
    await registry.userSessions.end(id, asked);
    expect(await find()).toBeUndefined();
  });

  it('end when they expire, idle, or are too many', async () => {
    const user = userOf(await create({ name: 'Tom', email: 'tom@example.net' }));
    expect(await who((await signIn(user.id, { expiresAt: now - 1 })).token)).toBeUndefined();
    const { token } = await signIn(user.id);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await registry.userSessions.authenticate(token, 1)).toBeUndefined();
    const first = await signIn(user.id, { sessionsMax: 1 });
    const second = await signIn(user.id, { sessionsMax: 1 });
    expect([await who(first.token), await who(second.token)]).toEqual([undefined, 'Tom']);
  });

  it('are not opened with a password that was changed meanwhile, nor for a user who was disabled', async () => {
    const user = userOf(await create({ name: 'Ivo', email: 'ivo@example.net', passwordHash: '$argon2id$old' }));
    await registry.users.update(user.id, { passwordHash: '$argon2id$new' }, asked);
    const entries = (await registry.audit.page({}, { first: 50 })).rows.length;
    expect(await openSession(user.id, { passwordHash: '$argon2id$old' })).toBeUndefined();
    expect((await registry.audit.page({}, { first: 50 })).rows).toHaveLength(entries);
    expect(await openSession(user.id, { passwordHash: '$argon2id$new' })).toBeDefined();
    await registry.users.update(user.id, { disabled: true }, asked);
    expect(await openSession(user.id)).toBeUndefined();
  });

  it('do not outlive a change of the password, in whichever order the two come', async () => {
    const user = userOf(await create({ name: 'Rae', email: 'rae@example.net', passwordHash: '$argon2id$0' }));
    for (let round = 0; round < 20; round += 1) {
      const change = () => other.users.update(user.id, { passwordHash: `$argon2id$${round + 1}` }, asked);
      const enter = () => openSession(user.id, { passwordHash: `$argon2id$${round}` });
      const [first, second] = round % 2 ? [change, enter] : [enter, change];
      await Promise.all([first(), second()]);
      expect(await registry.userSessions.endAll(user.id, asked)).toBe(0);
    }
  });

  it('idle out while something is only watching them', async () => {
    const user = userOf(await create({ name: 'Wim', email: 'wim@example.net' }));
    const { token } = await signIn(user.id);
    const backdate = `UPDATE user_session SET last_used_at = now() - interval '10 minutes'
                      WHERE user_id = '${user.id}'`;
    await execute(database.databaseUrl, backdate);
    const nineMinutes = 540_000;
    const isLive = async (idleMs: number, watched?: 'watched') => {
      registry.userSessions.forget();
      return (await registry.userSessions.authenticate(token, idleMs, watched)) !== undefined;
    };
    expect(await isLive(IDLE_MS, 'watched')).toBe(true);
    expect(await isLive(nineMinutes, 'watched')).toBe(false);
    expect(await isLive(IDLE_MS)).toBe(true);
    await vi.waitFor(async () => expect(await isLive(nineMinutes, 'watched')).toBe(true));
    await execute(database.databaseUrl, backdate);
    expect(await isLive(IDLE_MS, 'watched')).toBe(true);
    // A request that comes right after a check of an open connection is activity, too.
    expect(await registry.userSessions.authenticate(token, IDLE_MS)).toBeDefined();
    await vi.waitFor(async () => expect(await isLive(nineMinutes, 'watched')).toBe(true));
  });

  it('change with their user at once: role, password, disabling', async () => {
    const former = '$argon2id$old';
    const user = userOf(await create({ name: 'Mia', email: 'mia@example.net', passwordHash: former }));
    const [one, two] = [await signIn(user.id), await signIn(user.id)];
    expect(await who(one.token)).toBe('Mia');
    await registry.users.update(user.id, { role: 'OPERATOR' }, asked);
    expect((await registry.userSessions.authenticate(one.token, IDLE_MS))?.user.role).toBe('OPERATOR');
    const change = { userId: user.id, sessionId: one.id, former, next: '$argon2id$new' };
    expect(await registry.users.setOwnPassword(change, asked)).toBe(true);
    expect([await who(one.token), await who(two.token)]).toEqual(['Mia', undefined]);
    await registry.users.update(user.id, { disabled: true }, asked);
    expect(await who(one.token)).toBeUndefined();
    await registry.users.update(user.id, { disabled: false }, asked);
    expect(await who(one.token)).toBeUndefined();
    const again = await signIn(user.id);
    await registry.users.update(user.id, { passwordHash: '$argon2id$reset' }, asked);
    expect(await who(again.token)).toBeUndefined();
    await signIn(user.id);
    expect(await registry.userSessions.endAll(user.id, asked)).toBe(1);
  });
});
