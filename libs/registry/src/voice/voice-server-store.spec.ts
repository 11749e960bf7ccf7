import type { HubProcessId } from '@flotilla/mcp';
import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../database/database.js';
import { silentLogger } from '../registry-logger.js';
import { openTestDatabase } from '../test-database.js';
import type { TestDatabase } from '../test-database.js';
import { VoiceServerStore } from './voice-server-store.js';
import type { VoiceServerRow } from './voice-server-store.js';

let testDatabase: TestDatabase;
let database: Database;
let store: VoiceServerStore;

async function hubProcess(leaseSeconds: number): Promise<HubProcessId> {
  const id = v7() as HubProcessId;
  await database.query(
    {
      text: `INSERT INTO hub_process (id, host, pid, started_at, lease_until)
             VALUES ($1, 'spec', 1, now(), now() + $2 * interval '1 second')`,
    },
    [id, leaseSeconds],
  );
  return id;
}

const seen = (url: string, change: Partial<VoiceServerRow>): VoiceServerRow => ({
  url,
  state: 'UNTRIED',
  since: 1,
  conversations: 0,
  lastError: undefined,
  lastErrorCode: undefined,
  ...change,
});

const late = { lastError: 'it did not answer in time', lastErrorCode: 'UNREACHABLE' } as const;

describe('what processes know of voice servers', () => {
  beforeAll(async () => {
    testDatabase = await openTestDatabase();
    database = new Database(testDatabase.databaseUrl, 4, silentLogger);
    store = new VoiceServerStore(database);
  });
  afterAll(async () => {
    await database.close();
    await testDatabase.close();
  });

  it('is combined from living processes: the latest change counts, and conversations add up', async () => {
    const [one, two, dead] = [await hubProcess(60), await hubProcess(60), await hubProcess(-1)];
    expect(await store.list()).toEqual([]);
    await store.report(one, [
      seen('ws://a/', { state: 'WELL', since: 1_795_000_000_000, conversations: 2 }),
      seen('ws://b/', { since: 9 }),
    ]);
    await store.report(two, [
      seen('ws://a/', { state: 'UNWELL', since: 1_795_000_000_001, conversations: 1, ...late }),
      seen('ws://b/', { state: 'WELL', since: 3 }),
    ]);
    await store.report(dead, [seen('ws://a/', { conversations: 50 }), seen('ws://c/', {})]);
    expect(await store.list()).toEqual([
      { url: 'ws://a/', state: 'UNWELL', since: 1_795_000_000_001, conversations: 3, ...late },
      { url: 'ws://b/', state: 'WELL', since: 3, conversations: 0, lastError: undefined, lastErrorCode: undefined },
    ]);
    await store.report(two, [
      seen('ws://a/', { state: 'UNWELL', since: 1_795_000_000_002, lastError: 'closed: \0\ud800' }),
    ]);
    expect(await store.list()).toMatchObject([{ url: 'ws://a/', lastError: 'closed: \uFFFD\uFFFD' }, {}]);
    await store.report(two, []);
    expect(await store.list()).toMatchObject([
      { url: 'ws://a/', state: 'WELL', conversations: 2 },
      { state: 'UNTRIED' },
    ]);
  });
});
