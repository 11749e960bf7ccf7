import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../../database/database.js';
import type { Queryable } from '../../database/database.js';
import { RegistryError } from '../../registry-error.js';
import { silentLogger } from '../../registry-logger.js';
import { openTestDatabase } from '../../test-database.js';
import type { TestDatabase } from '../../test-database.js';
import { noteChange } from './issue-credentials.js';
import { CredentialCache } from './credential-cache.js';

const DEVICES = 5_000;
let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await openTestDatabase();
  database = new Database(testDatabase.databaseUrl, 4, silentLogger);
  await database.query(
    {
      text: `INSERT INTO device (id, dialect, reachability)
             SELECT 'device-' || n, 'XIAOZHI', 'ALWAYS' FROM generate_series(1, ${DEVICES}) n`,
    },
    [],
  );
  await database.query(
    {
      text: `INSERT INTO device_credential (device_id, generation, mqtt_client_id, secret_hash, issued_at)
             SELECT 'device-' || n, 1, 'client-' || n, 'hash', now() FROM generate_series(1, ${DEVICES}) n`,
    },
    [],
  );
});
afterAll(async () => {
  await database.close();
  await testDatabase.close();
});

/**
 * The cache over the real database, with a clock that stands still and statements that are counted;
 * `isAway` cuts the connection.
 */
function openBook(): {
  readonly cache: CredentialCache;
  readonly seen: { statements: number; answers: number; isAway: boolean; now: number };
} {
  const seen = { statements: 0, answers: 0, isAway: false, now: 0 };
  const watched: Queryable = {
    query: async (statement, values) => {
      seen.statements += 1;
      if (seen.isAway) throw new RegistryError('DATABASE_UNAVAILABLE', 'PostgreSQL is away.');
      try {
        return await database.query(statement, values);
      } finally {
        seen.answers += 1;
      }
    },
  };
  return { cache: new CredentialCache(watched, silentLogger, () => seen.now), seen };
}

const ids = (count: number, prefix = 'device'): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index + 1}`);
const findAll = (
  cache: CredentialCache,
  wanted: readonly string[],
): Promise<readonly { readonly credentials: readonly unknown[] }[]> => Promise.all(wanted.map((id) => cache.find(id)));

/** A change by another process, as every write of this lib makes one. */
async function changeElsewhere(id: string, zone: string): Promise<void> {
  await database.transaction(async (transaction) => {
    await transaction.query({ text: 'UPDATE device SET time_zone = $2 WHERE id = $1' }, [id, zone]);
    await noteChange(transaction, [id]);
  });
}

describe('what is remembered of devices', () => {
  it('makes a storm of thousands cost a handful of statements, and the next one a single one', async () => {
    const { cache, seen } = openBook();
    const found = await findAll(cache, ids(DEVICES));
    expect(found.every(({ credentials }) => credentials.length === 1)).toBe(true);
    expect(seen.statements).toBeLessThanOrEqual(DEVICES / 1_000 + 2);
    seen.statements = 0;
    await findAll(cache, ids(DEVICES));
    expect(seen.statements).toBe(0);
    seen.now += 1_000;
    await findAll(cache, ids(DEVICES));
    expect(seen.statements).toBe(1);
  });

  it('is there for every known device after a gateway has begun', async () => {
    const { cache, seen } = openBook();
    expect(await cache.all()).toHaveLength(DEVICES);
    seen.statements = 0;
    await findAll(cache, ids(DEVICES));
    expect(seen.statements).toBe(0);
  });

  it('is right again a second after another process changed it', async () => {
    const { cache, seen } = openBook();
    await findAll(cache, ids(3));
    await changeElsewhere('device-2', 'Europe/Berlin');
    seen.now += 1_000;
    expect((await cache.find('device-2')).timeZone).toBe('Europe/Berlin');
  });

  it('does not miss a change that began before and was committed after another', async () => {
    const { cache, seen } = openBook();
    await findAll(cache, ids(3));
    const slow = new pg.Client({ connectionString: testDatabase.databaseUrl });
    await slow.connect();
    await slow.query('BEGIN');
    await slow.query(`UPDATE device SET time_zone = 'Asia/Tokyo' WHERE id = 'device-1'`);
    await noteChange({ query: async (statement, values) => (await slow.query({ ...statement, values })).rows }, [
      'device-1',
    ]);
    await changeElsewhere('device-3', 'Asia/Seoul');
    seen.now += 1_000;
    expect((await cache.find('device-3')).timeZone).toBe('Asia/Seoul');
    expect((await cache.find('device-1')).timeZone).toBeUndefined();
    await slow.query('COMMIT');
    await slow.end();
    seen.now += 1_000;
    expect((await cache.find('device-1')).timeZone).toBe('Asia/Tokyo');
  });

  it('goes on answering while PostgreSQL is away, and catches up when it is back', async () => {
    const { cache, seen } = openBook();
    await findAll(cache, ids(5));
    seen.isAway = true;
    seen.now += 5_000;
    expect((await cache.find('device-5')).credentials).toHaveLength(1);
    await expect(cache.find('never seen')).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    await changeElsewhere('device-5', 'Europe/Paris');
    seen.isAway = false;
    seen.now += 1_000;
    expect((await cache.find('device-5')).timeZone).toBe('Europe/Paris');
  });

  it('is cached again before a request needs it, regardless of what was forgotten meanwhile', async () => {
    const { cache, seen } = openBook();
    // Other specs of the same server can hold the horizon back, so that devices which earlier
    // examples changed are read again, too: this one was not changed.
    const unchanged = 'device-30';
    await findAll(cache, ids(30));
    await changeElsewhere('device-2', 'Europe/Lisbon');
    seen.now += 1_000;
    seen.answers = 0;
    await cache.find('device-1');
    cache.forget([unchanged]);
    await expect.poll(() => seen.answers).toBe(2);
    seen.isAway = true;
    seen.now += 1_000;
    expect((await cache.find('device-2')).timeZone).toBe('Europe/Lisbon');
    await expect(cache.find(unchanged)).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
  });

  it('is read again once for a change that a long transaction has it find again and again', async () => {
    const { cache, seen } = openBook();
    await findAll(cache, ids(3));
    const long = new pg.Client({ connectionString: testDatabase.databaseUrl });
    await long.connect();
    await long.query('BEGIN');
    await long.query('SELECT pg_current_xact_id()');
    await changeElsewhere('device-2', 'Europe/Madrid');
    seen.answers = 0;
    for (let look = 1; look <= 3; look++) {
      seen.now += 1_000;
      await cache.find('device-1');
      // The first look and what it read again, then each look alone.
      await expect.poll(() => seen.answers).toBe(1 + look);
    }
    await long.end();
    seen.isAway = true;
    expect((await cache.find('device-2')).timeZone).toBe('Europe/Madrid');
  });

  it('does not outlive a long time without looking', async () => {
    const { cache, seen } = openBook();
    await findAll(cache, ids(5));
    seen.isAway = true;
    seen.now += 21 * 60_000;
    await cache.find('device-4');
    await database.query({ text: `UPDATE device SET time_zone = 'Europe/Rome' WHERE id = 'device-4'` }, []);
    seen.isAway = false;
    seen.now += 1_000;
    expect((await cache.find('device-4')).timeZone).toBe('Europe/Rome');
  });

  it('asks about an unknown id once, and forgets no device for made-up ones', async () => {
    const { cache, seen } = openBook();
    await findAll(cache, ids(10));
    await findAll(cache, ids(15_000, 'made-up'));
    seen.statements = 0;
    await findAll(cache, [...ids(10), 'made-up-15000']);
    expect(seen.statements).toBe(0);
  });

  it('is as before where the row of a change was not written, unless a later one followed', async () => {
    const { cache } = openBook();
    const former = await cache.find('device-7');
    const credentials = former.credentials.map((credential) => ({ ...credential, isUsed: true }));
    const used = { ...former, credentials };
    cache.amend(former, used);
    expect(await cache.read('device-7')).toBe(used);
    cache.unamend(former, used);
    expect(await cache.remembered('device-7')).toBe(former);
    const later = { ...former, credentials: [] };
    cache.amend(former, used);
    cache.amend(used, later);
    cache.unamend(former, used);
    expect(await cache.read('device-7')).toBe(later);
  });

  it('does not keep what was read before a change', async () => {
    const { cache, seen } = openBook();
    await cache.find('device-9');
    cache.forget(['device-9']);
    const reading = cache.find('device-9');
    await changeElsewhere('device-9', 'Europe/Oslo');
    cache.forget(['device-9']);
    await reading;
    seen.statements = 0;
    expect((await cache.find('device-9')).timeZone).toBe('Europe/Oslo');
  });
});
