import pg from 'pg';
import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../registry-logger.js';
import { openTestDatabase } from '../test-database.js';
import type { TestDatabase } from '../test-database.js';
import { Database } from './database.js';
import { makePartitions, partitionsFrom } from './partitions.js';
import { lowestUuidOf, timeOfUuid } from './uuid-v7.js';

const MIDNIGHT = Date.UTC(2026, 11, 31);

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await openTestDatabase();
  database = new Database(testDatabase.databaseUrl, 3, silentLogger);
});

afterAll(async () => {
  await database.close();
  await testDatabase.close();
});

async function partitionOf(at: number): Promise<string | undefined> {
  const id = v7({ msecs: at });
  const rows = await database.query<{ name: string }>(
    { text: `INSERT INTO event (id, type, data) VALUES ($1, 'spec', '{}') RETURNING tableoid::regclass::text AS name` },
    [id],
  );
  return rows[0]?.name;
}

describe('partitions', () => {
  it('cover today and seven days, this month and the next, over the end of a year', () => {
    const names = partitionsFrom(MIDNIGHT + 1).map(({ name }) => name);
    expect(names.filter((name) => name.startsWith('event_'))).toEqual(
      ['20261231', '20270101', '20270102', '20270103', '20270104', '20270105', '20270106', '20270107'].map(
        (day) => `event_${day}`,
      ),
    );
    expect(names.filter((name) => name.startsWith('job_target_'))).toEqual(['job_target_202612', 'job_target_202701']);
  });

  it('take the last and the first millisecond of a day apart, and other days by default', async () => {
    await makePartitions(database, MIDNIGHT, silentLogger);
    expect(await partitionOf(MIDNIGHT)).toBe('event_20261231');
    expect(await partitionOf(MIDNIGHT + 86_400_000 - 1)).toBe('event_20261231');
    expect(await partitionOf(MIDNIGHT + 86_400_000)).toBe('event_20270101');
    expect(await partitionOf(MIDNIGHT - 1)).toBe('event_default');
  });

  it('are made again without harm, by several at once, and around days whose rows are in the default one', async () => {
    const warnings: string[] = [];
    const logger = {
      ...silentLogger,
      warn: (fields: Readonly<Record<string, unknown>>) => void warnings.push(String(fields['partition'])),
    };
    await Promise.all([1, 2].map(() => makePartitions(database, MIDNIGHT, logger)));
    expect(warnings).toEqual([]);
    await makePartitions(database, MIDNIGHT - 1, logger);
    expect(warnings).toEqual(['event_20261230']);
  });

  it('have the settings that a rewritten table needs', async () => {
    const client = new pg.Client({ connectionString: testDatabase.databaseUrl });
    await client.connect();
    const { rows } = await client.query<{ options: string }>(
      `SELECT reloptions::text AS options FROM pg_class
       WHERE relname IN ('job_target_202612', 'job_target_202612_pkey') ORDER BY relname`,
    );
    await client.end();
    expect(rows[0]?.options).toContain('fillfactor=70');
    expect(rows[1]?.options).toContain('fillfactor=50');
  });
});

describe('the time inside a UUIDv7', () => {
  it('comes out as it went in, and bounds are below every id of their millisecond', () => {
    for (const at of [0, 1, MIDNIGHT - 1, MIDNIGHT, 2 ** 48 - 1]) {
      const id = v7({ msecs: at });
      expect(timeOfUuid(id)).toBe(at);
      expect(lowestUuidOf(at) < id).toBe(true);
      expect(at === 0 || v7({ msecs: at - 1 }) < lowestUuidOf(at)).toBe(true);
    }
  });
});
