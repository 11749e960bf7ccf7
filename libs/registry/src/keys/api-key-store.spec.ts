import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Database } from '../database/database.js';
import { openRegistry } from '../open-registry.js';
import type { Registry } from '../registry.js';
import { openTestDatabase, type TestDatabase } from '../test-database.js';
import type { NewApiKey } from './api-key.js';

let database: TestDatabase;
let registry: Registry;

beforeAll(async () => {
  database = await openTestDatabase();
  registry = await openRegistry({ databaseUrl: database.databaseUrl });
});

afterAll(async () => {
  await registry.close();
  await database.close();
});

const by = { actor: 'admin' };
const reader: NewApiKey = { name: 'reader', scopes: ['DEVICES_READ'], devices: undefined, expiresAt: undefined };

async function make(change: Partial<NewApiKey> = {}, keysMax = 100) {
  const answer = await registry.apiKeys.create({ ...reader, ...change }, { keysMax, at: Date.now(), by });
  if (answer.kind !== 'created') throw new TypeError(answer.kind);
  return answer;
}

describe('API keys', () => {
  it('identify their holder, with the filter that limits it', async () => {
    const devices = { tags: ['lab'] };
    const { key, secret } = await make({ devices });
    const principal = { kind: 'KEY', id: key.id, name: 'reader', scopes: ['DEVICES_READ'], devices };
    expect(await registry.apiKeys.authenticate(secret)).toEqual(principal);
    expect(await registry.apiKeys.authenticate(`${secret}x`)).toBeUndefined();
  });

  it('stay cached while strangers guess, and the guesses cost few statements', async () => {
    const { apiKeys } = registry;
    const { secret } = await make();
    const principal = await apiKeys.authenticate(secret);
    // Registries of other files may still be closing, and their statements do not count.
    const statements = vi.spyOn(Database.prototype, 'query');
    const lookups = () => statements.mock.calls.filter(([{ name }]) => name === 'keys-by-hash').length;
    try {
      const guesses = Array.from({ length: 2_000 }, (_, index) => `guess ${String(index)}`);
      const answers = await Promise.all(guesses.map((guess) => apiKeys.authenticate(guess)));
      expect(new Set(answers)).toEqual(new Set([undefined]));
      expect(lookups()).toBe(3);
      statements.mockClear();
      expect(await apiKeys.authenticate(secret)).toEqual(principal);
      await Promise.all(guesses.map((guess) => apiKeys.authenticate(guess)));
      expect(lookups()).toBe(0);
    } finally {
      statements.mockRestore();
    }
  });

  it('are not cached if they are revoked during their lookup', async () => {
    const { key, secret } = await make();
    const looks = Array.from({ length: 20 }, () => registry.apiKeys.authenticate(secret));
    await Promise.all([...looks, registry.apiKeys.revoke(key.id, { at: Date.now(), by })]);
    expect(await registry.apiKeys.authenticate(secret)).toBeUndefined();
  });

  it('of the settings stay revoked at the next start, also after room was made for others', async () => {
    const own = await openTestDatabase();
    const other = await openRegistry({ databaseUrl: own.databaseUrl });
    try {
      const create = (name: string) => other.apiKeys.create({ ...reader, name }, { keysMax: 3, at: Date.now(), by });
      await other.apiKeys.ensureAdminKey(undefined);
      const given = 'g'.repeat(32);
      await other.apiKeys.ensureAdminKey(given);
      const { id } = (await other.apiKeys.authenticate(given)) ?? { id: '' };
      await other.apiKeys.revoke(id, { at: Date.now() - 1, by });
      for (const name of ['a', 'b']) expect(await create(name)).toMatchObject({ kind: 'created' });
      await other.apiKeys.ensureAdminKey(given);
      expect(await other.apiKeys.authenticate(given)).toBeUndefined();
      expect(await create('c')).toEqual({ kind: 'FULL' });
    } finally {
      await other.close();
      await own.close();
    }
  });

  it('make room for new ones once they ended, and not before', async () => {
    const own = await openTestDatabase();
    const other = await openRegistry({ databaseUrl: own.databaseUrl });
    try {
      const create = (name: string) => other.apiKeys.create({ ...reader, name }, { keysMax: 3, at: Date.now(), by });
      const [first] = [await create('a'), await create('b'), await create('c')];
      expect(await create('d')).toEqual({ kind: 'FULL' });
      if (first.kind === 'created') await other.apiKeys.revoke(first.key.id, { at: Date.now() - 1, by });
      const both = await Promise.all([create('d'), create('e')]);
      expect(both.map(({ kind }) => kind).sort()).toEqual(['FULL', 'created']);
      expect(await other.apiKeys.all()).toHaveLength(3);
    } finally {
      await other.close();
      await own.close();
    }
  });
});
