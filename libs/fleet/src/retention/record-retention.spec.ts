import { openRegistry } from '@flotilla/registry';
import type { Registry } from '@flotilla/registry';
import { openTestDatabase } from '@flotilla/registry/test-database';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { silent } from '../fleet-fixture.suite.js';
import { RecordRetention } from './record-retention.js';

const DAY_MS = 86_400_000;
const kept = {
  recordsMs: 30 * DAY_MS,
  jobsMs: 90 * DAY_MS,
  auditMs: 365 * DAY_MS,
  measurementsMs: 7 * DAY_MS,
  rollupsMs: 400 * DAY_MS,
};

let registry: Registry;
let closeDatabase: () => Promise<void>;

beforeAll(async () => {
  const database = await openTestDatabase();
  closeDatabase = () => database.close();
  registry = await openRegistry({ databaseUrl: database.databaseUrl });
});
afterAll(async () => {
  await registry.close();
  await closeDatabase();
});

const removedWith = async (now: () => number) => {
  const logged: unknown[] = [];
  const logger = { ...silent, info: (...line: unknown[]) => void logged.push(line) };
  await new RecordRetention({ registry, kept, clock: { now }, logger }).run();
  return logged;
};

it('removes nothing that is young by the clock of PostgreSQL or of the process', async () => {
  await registry.makePartitions(Date.now());
  expect(await removedWith(() => Date.now() + 3_650 * DAY_MS)).toEqual([]);
  expect(await removedWith(() => Date.now() - 3_650 * DAY_MS)).toEqual([]);
});
