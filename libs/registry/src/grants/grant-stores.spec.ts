import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Registry } from '../index.js';
import { openRegistry } from '../index.js';
import { openTestDatabase } from '../test-database.js';
import type { TestDatabase } from '../test-database.js';
import type { NewAgentGrant } from './agent-grant.js';

let database: TestDatabase;
let registry: Registry;
let userId: string;

const now = Date.now();
const HOUR_MS = 3_600_000;
const by = { actor: 'the spec' };
const kept = {
  recordsMs: 24 * HOUR_MS,
  jobsMs: 24 * HOUR_MS,
  auditMs: 365 * 24 * HOUR_MS,
  measurementsMs: 1,
  rollupsMs: 1,
};

beforeAll(async () => {
  database = await openTestDatabase();
  registry = await openRegistry({ databaseUrl: database.databaseUrl });
  userId = await person('ann@example.com');
});

afterAll(async () => {
  await registry.close();
  await database.close();
});

async function person(email: string): Promise<string> {
  const user = { name: 'Ann', email, role: 'OPERATOR' } as const;
  const answer = await registry.users.create(user, { at: now, by, usersMax: 100 });
  if ('refused' in answer) throw new TypeError(answer.refused);
  return answer.user.id;
}

async function grant(change: Partial<NewAgentGrant> = {}, grantsMax = 50, at = now) {
  const wanted: NewAgentGrant = {
    userId,
    clientId: 'client',
    clientName: 'Agent',
    clientHost: 'agent.example',
    devices: undefined,
    scopes: ['DEVICES_READ', 'TOOLS_CALL'],
    expiresAt: now + HOUR_MS,
    ...change,
  };
  const made = await registry.agentGrants.create(wanted, { grantsMax, at, by });
  if (made === undefined) throw new TypeError('not created');
  return made;
}

const token = (id: string, grantId: string, expiresAt = now + HOUR_MS) =>
  registry.oauth.put({
    kind: 'AccessToken',
    id,
    grantId,
    expiresAt,
    payload: { grantId, scope: 'DEVICES_READ UNKNOWN', aud: 'https://hub.example/mcp' },
  });

describe('grants', () => {
  it('identify the holder of a token, with the person as they are now', async () => {
    const devices = { tags: ['lab'] };
    const { id } = await grant({ devices });
    await token('token-1', id);
    expect(await registry.agentGrants.authenticate('token-1')).toEqual({
      grantId: id,
      clientName: 'Agent',
      scopes: ['DEVICES_READ'],
      granted: ['DEVICES_READ', 'TOOLS_CALL'],
      devices,
      audience: 'https://hub.example/mcp',
      user: { id: userId, email: 'ann@example.com', role: 'OPERATOR' },
    });
    expect(await registry.agentGrants.authenticate('token-2')).toBeUndefined();
    await token('late', id, now - 1);
    expect(await registry.agentGrants.authenticate('late')).toBeUndefined();
  });

  it('let a call run on after its token has expired, as long as a call takes, unless they end', async () => {
    const { id } = await grant();
    await token('expired', id, now - 1);
    await token('expired long ago', id, now - 5 * 60_000);
    const isOpen = async (secret: string) => (await registry.agentGrants.authenticate(secret, 'running')) !== undefined;
    expect([await isOpen('expired'), await isOpen('expired long ago')]).toEqual([true, false]);
    expect(await registry.agentGrants.authenticate('expired')).toBeUndefined();
    expect(await registry.agentGrants.authenticate('expired', 'watched')).toBeUndefined();
    expect(await isOpen('expired')).toBe(true);
    await registry.agentGrants.revoke(id, { at: now, by });
    expect(await isOpen('expired')).toBe(false);
  });

  it('note a use that comes right after a check of an open request, but not the check', async () => {
    const { id } = await grant();
    await token('streaming', id);
    const lastUsedAt = async () => (await registry.agentGrants.find(id))?.lastUsedAt;
    expect(await registry.agentGrants.authenticate('streaming', 'watched')).toBeDefined();
    expect(await lastUsedAt()).toBeUndefined();
    expect(await registry.agentGrants.authenticate('streaming')).toBeDefined();
    await vi.waitFor(async () => expect(await lastUsedAt()).toBeGreaterThanOrEqual(now));
  });

  it('end at once when they are revoked, and when the person is disabled or deleted', async () => {
    const other = await person('bob@example.com');
    const [first, second] = [await grant(), await grant({ userId: other })];
    await token('revoked', first.id);
    await token('orphaned', second.id);
    expect(await registry.agentGrants.authenticate('revoked')).toBeDefined();
    expect(await registry.agentGrants.authenticate('orphaned')).toBeDefined();
    await registry.agentGrants.revoke(first.id, { at: now, by });
    expect(await registry.agentGrants.authenticate('revoked')).toBeUndefined();
    await registry.users.update(other, { disabled: true }, { at: now, by });
    expect(await registry.agentGrants.authenticate('orphaned')).toBeUndefined();
    await registry.users.update(other, { disabled: false }, { at: now, by });
    expect(await registry.agentGrants.authenticate('orphaned')).toBeDefined();
    await registry.users.remove(other, { at: now, by });
    expect(await registry.agentGrants.authenticate('orphaned')).toBeUndefined();
    expect(await registry.agentGrants.living(now, other)).toEqual([]);
  });

  it('beyond the maximum of a person end, those unused for the longest time first', async () => {
    const own = await person('carl@example.com');
    const first = await grant({ userId: own }, 2, now - 2);
    await grant({ userId: own }, 2, now - 1);
    const third = await grant({ userId: own }, 2);
    const living = (await registry.agentGrants.living(now, own)).map(({ id }) => id);
    expect(living).toHaveLength(2);
    expect(living).toContain(third.id);
    expect(living).not.toContain(first.id);
  });

  it('are recorded in the audit trail', async () => {
    const { id } = await grant();
    await registry.agentGrants.revoke(id, { at: now, by }, 'token reuse');
    const { rows } = await registry.audit.page({ subject: `grant:${id}` }, { first: 5 });
    expect(rows.map(({ action, data }) => [action, data['reason']])).toEqual([
      ['grant.revoked', 'token reuse'],
      ['grant.created', undefined],
    ]);
  });
});

describe('codes and tokens', () => {
  it('are stored without the secret, and are consumed once', async () => {
    const { id } = await grant();
    await registry.oauth.put({
      kind: 'RefreshToken',
      id: 'secret',
      grantId: id,
      payload: { grantId: id },
      expiresAt: now,
    });
    const wins = await Promise.all(
      Array.from({ length: 5 }, () => registry.oauth.consume('RefreshToken', 'secret', now)),
    );
    expect(wins.filter(Boolean)).toHaveLength(1);
    expect((await registry.oauth.find('RefreshToken', 'secret'))?.consumedAt).toBe(Math.floor(now / 1_000));
    expect(await registry.oauth.find('AccessToken', 'secret')).toBeUndefined();
  });

  it('are removed after they expired, with grants that have none left', async () => {
    const { id } = await grant();
    await token('short', id, now + 1_000);
    // An open request with the token may still run.
    await registry.removeOld(kept, now + 5 * 60_000);
    expect(await registry.oauth.find('AccessToken', 'short')).toBeDefined();
    await registry.removeOld(kept, now + 5 * 60_000 + 2_000);
    expect(await registry.oauth.find('AccessToken', 'short')).toBeUndefined();
    expect(await registry.agentGrants.find(id)).toBeDefined();
    expect(await registry.removeOld(kept, now + 2 * HOUR_MS)).toMatchObject({ oauth: expect.any(Number) });
    expect(await registry.agentGrants.find(id)).toBeUndefined();
  });
});

describe('registered clients', () => {
  it('are bounded: those without a grant make room after a while', async () => {
    const register = (id: string, at: number) =>
      registry.oauth.register(
        { id, metadata: { id }, remoteAddress: undefined },
        { clientsMax: 2, idleMs: HOUR_MS, at },
      );
    expect(await register('a', now)).toBe(true);
    expect(await register('b', now)).toBe(true);
    expect(await register('c', now)).toBe(false);
    await grant({ clientId: 'a' });
    expect(await register('c', now + 2 * HOUR_MS)).toBe(true);
    expect(await registry.oauth.findClient('a')).toEqual({ id: 'a' });
    expect(await registry.oauth.findClient('b')).toBeUndefined();
  });

  it('are not found by a text that PostgreSQL cannot store', async () => {
    for (const id of ['a\0', '\ud800']) expect(await registry.oauth.findClient(id)).toBeUndefined();
  });
});
