import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../database/database.js';
import { silentLogger } from '../registry-logger.js';
import { openTestDatabase } from '../test-database.js';
import type { TestDatabase } from '../test-database.js';
import { keepHubSecret } from './hub-secrets.js';

describe('a secret that the processes of a hub share', () => {
  let testDatabase: TestDatabase;
  let database: Database;

  beforeAll(async () => {
    testDatabase = await openTestDatabase();
    database = new Database(testDatabase.databaseUrl, 8, silentLogger);
  });
  afterAll(async () => {
    await database.close();
    await testDatabase.close();
  });

  it('is the same for all processes that ask at once, and stays', async () => {
    const asked = await Promise.all(Array.from({ length: 8 }, () => keepHubSecret(database, 'bus')));
    expect(new Set(asked).size).toBe(1);
    expect(asked[0]).toMatch(/^[\w-]{43}$/);
    expect(await keepHubSecret(database, 'bus')).toBe(asked[0]);
  });
});
