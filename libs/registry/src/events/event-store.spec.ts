import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { v7 } from 'uuid';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Database } from '../database/database.js';
import { silentLogger } from '../registry-logger.js';
import { openTestDatabase } from '../test-database.js';
import type { TestDatabase } from '../test-database.js';
import { EventStore } from './event-store.js';

/** No server listens there. */
const AWAY = 'postgres://127.0.0.1:1/away';
const CLOSE_WITHIN_MS = 300;

let folder: string;
let testDatabase: TestDatabase;
let database: Database;
let away: Database;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'flotilla-events-'));
  testDatabase = await openTestDatabase();
  database = new Database(testDatabase.databaseUrl, 2, silentLogger);
  away = new Database(AWAY, 2, silentLogger);
});

afterEach(async () => {
  await database.close();
  await away.close();
  await testDatabase.close();
  await rm(folder, { recursive: true });
});

const spill = () => path.join(folder, 'events.spill');
const storeOn = (at: Database) => new EventStore(at, spill(), silentLogger, CLOSE_WITHIN_MS);
const event = (type: string) => ({ type, deviceId: undefined, at: Date.now(), data: {} });

/** The types of the events that a next process finds, once all are written. */
async function typesAfterNextStart(count: number): Promise<readonly string[]> {
  const store = storeOn(database);
  await store.open();
  const types = async () => {
    const rows = await database.query<{ type: string }>({ text: 'SELECT type FROM event ORDER BY id' }, []);
    return rows.map(({ type }) => type);
  };
  await expect.poll(async () => (await types()).length).toBe(count);
  await store.close();
  return types();
}

it('keeps events in the spill file if PostgreSQL is away until the stop', async () => {
  const store = storeOn(away);
  await store.open();
  const types = Array.from({ length: 2_500 }, (_, index) => `spec.${index}`);
  for (const type of types) store.append(event(type));
  await store.close();
  expect(store.status().droppedTotal).toBe(0);
  expect(await typesAfterNextStart(types.length)).toEqual(types);
});

it('stops in time while spilled events wait for PostgreSQL, and keeps them', async () => {
  const rows = Array.from({ length: 1_500 }, (_, index) => ({ ...event(`spec.${index}`), id: v7({ seq: index }) }));
  await writeFile(spill(), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const store = storeOn(away);
  await store.open();
  await expect.poll(() => store.status().depth).toBeGreaterThanOrEqual(1_000);
  const closed = store.close().then(() => 'closed');
  const late = new Promise((resolve) => setTimeout(resolve, 10 * CLOSE_WITHIN_MS, 'late'));
  expect(await Promise.race([closed, late])).toBe('closed');
  expect([...(await typesAfterNextStart(rows.length))].sort()).toEqual(rows.map(({ type }) => type).sort());
});

it('leaves out a spilled event that PostgreSQL refuses, and writes those behind it', async () => {
  // Longer than an entry of an index may be. It is the first row for which the drain waits.
  const long = randomBytes(6_000).toString('hex');
  const typeOf = (index: number) => (index === 1_000 ? long : `spec.${index}`);
  const rows = Array.from({ length: 1_500 }, (_, index) => ({ ...event(typeOf(index)), id: v7({ seq: index }) }));
  await writeFile(spill(), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const store = storeOn(database);
  await store.open();
  await expect.poll(async () => (await readdir(folder)).length).toBe(0);
  await expect.poll(() => store.status().depth).toBe(0);
  expect(store.status().droppedTotal).toBe(1);
  await store.close();
  expect(await typesAfterNextStart(1_499)).toHaveLength(1_499);
});
