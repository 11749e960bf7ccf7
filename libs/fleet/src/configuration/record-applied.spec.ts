import { openRegistry, type Registry } from '@flotilla/registry';
import { openTestDatabase, type TestDatabase } from '@flotilla/registry/test-database';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Actor } from '../actor.js';
import { recordApplied, type AppliedInput } from './record-applied.js';

const actor: Actor = {
  id: 'KEY:a',
  owner: undefined,
  name: 'deploy',
  devices: undefined,
  mayCallTools: false,
  mayCallUserOnly: false,
  mayChangeFirmware: false,
  remoteAddress: undefined,
};

describe('the record of what an apply wrote', () => {
  let database: TestDatabase;
  let registry: Registry;
  let now = Date.UTC(2026, 10, 24);
  beforeAll(async () => {
    database = await openTestDatabase();
    registry = await openRegistry({ databaseUrl: database.databaseUrl });
  });
  afterAll(async () => {
    await registry.close();
    await database.close();
  });

  const record = (...entries: readonly AppliedInput[]) =>
    recordApplied({ registry, clock: { now: () => now, setTimer: () => () => undefined } }, entries, actor);
  const entry = (name: string, more: Partial<AppliedInput> = {}): AppliedInput => ({
    kind: 'DeviceGroup',
    name,
    fields: { filter: { all: true } },
    revision: undefined,
    ...more,
  });
  const names = async () => (await registry.appliedConfigurations.page({ first: 10 })).rows.map(({ name }) => name);

  it('keeps fields with a revision, in pages by kind and name', async () => {
    const { rows, refusal } = await record(entry('b'), entry('a'), entry('z', { kind: 'ApiKey' }));
    expect(refusal).toBeUndefined();
    expect(rows[0]).toEqual({
      kind: 'DeviceGroup',
      name: 'b',
      fields: { filter: { all: true } },
      revision: 1,
      appliedBy: 'deploy',
      appliedAt: now,
    });
    expect(await names()).toEqual(['z', 'a', 'b']);
    const first = await registry.appliedConfigurations.page({ first: 2 });
    const next = await registry.appliedConfigurations.page({ first: 2, after: first.cursors.at(-1) ?? '' });
    expect([first.hasNextPage, next.hasNextPage, next.rows.map(({ name }) => name)]).toEqual([true, false, ['b']]);
  });

  it('changes an entry only for the caller who knows its revision, and all entries or none', async () => {
    now += 1_000;
    const { rows } = await record(entry('a', { fields: { timeZone: 'UTC' }, revision: 1 }));
    expect(rows).toMatchObject([{ revision: 2, appliedAt: now, fields: { timeZone: 'UTC' } }]);
    for (const revision of [undefined, 1, 3])
      expect(await record(entry('new'), entry('a', { revision }))).toMatchObject({
        rows: [],
        refusal: { code: 'CONFLICT', path: ['input', '1'] },
      });
    expect(await names()).toEqual(['z', 'a', 'b']);
  });

  it('removes an entry, and audits names without values', async () => {
    expect(await record(entry('a', { fields: null, revision: 2 }))).toEqual({ rows: [] });
    expect(await names()).toEqual(['z', 'b']);
    const [latest] = (await registry.audit.page({}, { first: 1 })).rows;
    expect(latest).toMatchObject({
      action: 'configuration.applied',
      actor: 'deploy',
      subject: 'configuration',
      data: { recorded: [], removed: ['DeviceGroup a'] },
    });
  });

  it.each([
    [[], ['input'], 'LIMIT_EXCEEDED'],
    [[entry('')], ['input', '0', 'name'], 'INVALID'],
    [[entry('x', { kind: 'k'.repeat(101) })], ['input', '0', 'kind'], 'INVALID'],
    [[entry('x', { fields: ['a'] })], ['input', '0', 'fields'], 'INVALID'],
    [[entry('x', { fields: { a: 'ä'.repeat(40_000) } })], ['input', '0', 'fields'], 'LIMIT_EXCEEDED'],
    [[entry('x'), entry('x')], ['input', '1'], 'INVALID'],
    [Array.from({ length: 201 }, (_, index) => entry(`x${index}`)), ['input'], 'LIMIT_EXCEEDED'],
  ] as const)('refuses what is not an entry, with its path', async (entries, path, code) => {
    expect((await record(...entries)).refusal).toMatchObject({ path, code });
  });
});
