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
const event = (index: number) =>
  ({ type: 'device.notification', deviceId: undefined, at: Date.now(), data: { index } }) as const;
/** As in the spill file. */
const row = (index: number) => ({ ...event(index), id: v7({ seq: index }) });

/** The numbers of the events that a next process finds, once all are written. */
async function eventsAfterNextStart(count: number): Promise<readonly number[]> {
  const store = storeOn(database);
  await store.open();
  const written = async () => {
    const text = `SELECT (data->>'index')::int AS index FROM event ORDER BY id`;
    return (await database.query<{ index: number }>({ text }, [])).map(({ index }) => index);
  };
  await expect.poll(async () => (await written()).length).toBe(count);
  await store.close();
  return written();
}

it('keeps events in the spill file if PostgreSQL is away until the stop', async () => {
  const store = storeOn(away);
  await store.open();
  const indexes = Array.from({ length: 2_500 }, (_, index) => index);
  for (const index of indexes) store.append(event(index));
  await store.close();
  expect(store.status().droppedTotal).toBe(0);
  expect(await eventsAfterNextStart(indexes.length)).toEqual(indexes);
});

it('stops in time while spilled events wait for PostgreSQL, and keeps them', async () => {
  const rows = Array.from({ length: 1_500 }, (_, index) => row(index));
  await writeFile(spill(), rows.map((one) => `${JSON.stringify(one)}\n`).join(''));
  const store = storeOn(away);
  await store.open();
  await expect.poll(() => store.status().depth).toBeGreaterThanOrEqual(1_000);
  const closed = store.close().then(() => 'closed');
  const late = new Promise((resolve) => setTimeout(resolve, 10 * CLOSE_WITHIN_MS, 'late'));
  expect(await Promise.race([closed, late])).toBe('closed');
  expect(new Set(await eventsAfterNextStart(rows.length))).toEqual(new Set(rows.map(({ data }) => data.index)));
});

it('leaves out a spilled event that PostgreSQL refuses, and writes those behind it', async () => {
  // Longer than an entry of an index may be. It is the first row for which the drain waits.
  const long = randomBytes(6_000).toString('hex');
  const rows = Array.from({ length: 1_500 }, (_, index) => ({ ...row(index), ...(index === 1_000 && { type: long }) }));
  await writeFile(spill(), rows.map((one) => `${JSON.stringify(one)}\n`).join(''));
  const store = storeOn(database);
  await store.open();
  await expect.poll(async () => (await readdir(folder)).length).toBe(0);
  await expect.poll(() => store.status().depth).toBe(0);
  expect(store.status().droppedTotal).toBe(1);
  await store.close();
  expect(await eventsAfterNextStart(1_499)).toHaveLength(1_499);
});
