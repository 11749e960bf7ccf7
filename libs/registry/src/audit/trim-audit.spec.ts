import { afterAll, beforeAll, expect, it } from 'vitest';
import { Database } from '../database/database.js';
import type { Registry } from '../index.js';
import { openRegistryFixture, type RegistryFixture } from '../registry-fixture.suite.js';
import { silentLogger } from '../registry-logger.js';
import { trimAudit, trimSome } from './trim-audit.js';

const DAY_MS = 86_400_000;
const NOW = Date.now();

let fixture: RegistryFixture;
let registry: Registry;
let database: Database;

beforeAll(async () => {
  fixture = await openRegistryFixture();
  ({ registry } = fixture);
  database = new Database(fixture.databaseUrl, 4, silentLogger);
});
afterAll(async () => {
  await database.close();
  await fixture.close();
});

const waiting = {
  text: `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
};

it('leaves an intact chain, although another process removes more at the same moment', async () => {
  for (const days of [9, 8, 7, 1])
    await registry.audit.record({
      actor: 'an operator',
      action: 'policy.set',
      subject: 'policy:self.x',
      data: { days },
      at: NOW - days * DAY_MS,
    });
  const { earlier } = await database.transaction(async (transaction) => {
    expect(await trimSome(transaction, NOW - 2 * DAY_MS, NOW)).toBe(3);
    const other = trimAudit(database, NOW - 7.5 * DAY_MS, NOW);
    await expect.poll(() => database.query(waiting, [])).toHaveLength(1);
    return { earlier: other };
  });
  expect(await earlier).toBe(0);
  expect(await registry.audit.verify()).toMatchObject({ kind: 'intact', first: 4, entries: 2 });
});
